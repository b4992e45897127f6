"""Builds that are kept, and that runs wait for; each step is one transaction."""

import hashlib

from kernelbot.preflight.model import Preflight, PreflightReport
from kernelbot.preflight.rendering import short_text
from kernelbot.protocol import JobSpec
from kernelbot.runs import store as attempts
from kernelbot.runs.builds import store as builds
from kernelbot.runs.builds.store import Begun, BuildRequest, Built
from kernelbot.runs.claims import Claim
from kernelbot.runs.progress import add_report
from kernelbot.store.database import Database, WriteSession
from kernelbot.submissions.preflights import store as preflights

__all__ = ["Begun", "BuildRequest", "Builds", "Built", "build_of"]


def build_of(job: JobSpec, key: bytes, attempt_id: int) -> BuildRequest:
    """The build of a job's submission, wanted by an attempt."""
    source_sha256 = hashlib.sha256(job.submission.text.encode()).digest()
    return BuildRequest(key, source_sha256, attempt_id)


class Builds:
    """What a worker asks and tells of builds."""

    def __init__(self, database: Database, limit_bytes: int) -> None:
        """`limit_bytes`: of all that is kept."""
        self._database = database
        self._limit_bytes = limit_bytes

    async def take(self, build: BuildRequest) -> Built | Begun | None:
        """The build if it is there; else it is the attempt's to make, unless another's makes it:
        then None, and the question is worth asking again."""
        async with self._database.write() as session:
            return await builds.find(session, build.key) or await builds.start_build(session, build)

    async def launched(self, build: BuildRequest, begun: Begun) -> bool:
        """A scheduler has accepted the job that makes it. False: it isn't the attempt's to make."""
        async with self._database.write() as session:
            return await builds.launched(session, build, begun)

    async def keep(self, build: BuildRequest, built: Built) -> None:
        async with self._database.write() as session:
            await builds.keep(session, build, built)
            await builds.evict(session, self._limit_bytes)

    async def tell(self, claim: Claim, owner: str, report: PreflightReport) -> None:
        """Let the author of a run's submission read what compilers said of it, and those who follow
        it at once. Nobody is told of a duel, or of an attempt that isn't the owner's any more."""
        submission_id, spec = claim.submission_id, claim.spec
        if submission_id is None or spec.opponent is not None:
            return
        async with self._database.write() as session:
            if not await attempts.lock_mine(session, claim.run_id, claim.attempt_id, owner):
                return
            said = await store_report(session, submission_id, spec.device.name, report)
            if said is not None:
                await add_report(session, submission_id, claim.run_id, said)

    async def drop(self, build: BuildRequest) -> None:
        """Nothing came of it."""
        async with self._database.write() as session:
            await builds.drop(session, build)


async def store_report(
    session: WriteSession, submission_id: int, device: str, report: PreflightReport
) -> str | None:
    """Let a submission's author read what compilers said. Returns it as a short text; None: they
    were told the same before."""
    if not await preflights.keep(session, submission_id, device, report):
        return None
    before = await preflights.before(session, submission_id, device)
    return short_text(Preflight(report, before))
