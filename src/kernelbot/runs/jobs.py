"""What an attempt's job is: its id, its seed and its limits, and the specification made of them."""

import hmac
from dataclasses import replace

from kernelbot.boards import store as boards
from kernelbot.boards.model import ProblemDefinition
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.protocol import JobSpec, Limits, Mode, SamplingRules, SandboxMode, SourceFile
from kernelbot.protocol.job import FollowUp
from kernelbot.protocol.phases import judged_mode
from kernelbot.runs import store as attempts
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.job_terms import JobTerms, job_id_of
from kernelbot.runs.store import LockedRun, OpenAttempt, SecretRun
from kernelbot.store.database import ReadSession, WriteSession

_DEFINITIONS = 32


class JobSpecs:
    """Makes specifications. Problems are kept: a version never changes, and the same few are judged
    again and again."""

    def __init__(self, limits: Limits, sampling: SamplingRules, sandbox: SandboxMode) -> None:
        self._limits = limits
        self._sampling = sampling
        self._sandbox = sandbox
        self._definitions = VersionedCache[int, ProblemDefinition](_DEFINITIONS)

    async def spec(
        self, session: WriteSession, run: LockedRun, device: DeviceConfig, attempt: OpenAttempt
    ) -> JobSpec:
        """The same whoever makes it, since its terms are stored with the attempt. Raises
        `PlatformError` if the stored problem can't be read."""
        definition = await self._definition(session, run.problem_version_id)
        terms = attempt.terms
        if terms is None:
            terms = self.terms(run, device, attempt.number)
            await attempts.keep_terms(session, attempt.id, terms)
        return terms.spec(definition.spec, SourceFile(run.file_name, run.code), run.opponent)

    async def without_a_run(
        self, session: ReadSession, version_id: int, file: SourceFile, device: DeviceConfig
    ) -> JobSpec:
        """A specification that no run has: for what is compiled of it, which needs neither an id
        nor a seed. Raises `PlatformError` if the stored problem can't be read."""
        definition = await self._definition(session, version_id)
        return JobSpec(
            job_id="",
            problem=definition.spec,
            submission=file,
            mode=Mode.TEST,
            device=device.spec,
            limits=self._limits,
            sampling=self._sampling,
            sandbox=self._sandbox,
        )

    def terms(self, run: LockedRun, device: DeviceConfig, number: int) -> JobTerms:
        """The terms of the run's attempt of this number, as they are decided now."""
        return JobTerms(
            job_id=job_id_of(run.id, number, run.board_secret),
            mode=judged_mode(run.mode, secret=run.secret),
            device=device.spec,
            secret=run.secret,
            seed=_secret_seed(run, number) if run.secret else None,
            limits=self._limits,
            sampling=self._sampling,
            sandbox=self._sandbox,
        )

    def follow_up(self, run: LockedRun, device: DeviceConfig, waiting: SecretRun) -> FollowUp:
        """What the next attempt of the submission's secret run would be, judged after `run`."""
        secret = replace(run, id=waiting.id, secret=True)
        terms = self.terms(secret, device, waiting.attempts + 1)
        return FollowUp(terms.job_id, terms.mode, terms.seed)

    async def _definition(self, session: ReadSession, version_id: int) -> ProblemDefinition:
        found = self._definitions.get(version_id, None)
        if found is None:
            found = await boards.definition(session, version_id)
            self._definitions.keep(version_id, None, found)
        return found


def _secret_seed(run: LockedRun, number: int) -> int:
    """A seed for this attempt only, the same each time it is computed. All runs of a rejudge share
    one, and all runs of a board with `fixed_seed`."""
    if run.fixed_seed:
        return int.from_bytes(run.board_secret[:4], "big") >> 1
    name = f"run {run.id}.{number}" if run.rejudge_id is None else f"rejudge {run.rejudge_id}"
    drawn = hmac.digest(run.board_secret, name.encode(), "sha256")
    return int.from_bytes(drawn[:4], "big") >> 1
