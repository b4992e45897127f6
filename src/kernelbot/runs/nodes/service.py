"""What a scheduler's node fetches from the platform and tells it, by signed links."""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from kernelbot.domain.errors import LinkExpired, NotAllowed, UserError
from kernelbot.launchers.links import NodeLinks
from kernelbot.protocol import JobSpec, ProgressEvent, encode_payload
from kernelbot.protocol.building import Side, build_job, job_of
from kernelbot.runs import store as attempts
from kernelbot.runs.nodes import store as node_jobs
from kernelbot.runs.nodes.signed_links import Purpose, Signed, is_genuine, sign
from kernelbot.runs.nodes.store import AttemptName
from kernelbot.runs.progress import steps
from kernelbot.store.database import Database

MAX_EVENTS = 10_000
"""The most events of one job: a judge tells of each test and workload once."""
_ENCODED_AT_ONCE = 2
_JOB_ID = re.compile(r"(\d{1,18})\.(\d{1,9})\.[0-9a-f]{12}(?:\.([bo])\d{1,2})?")
"""The id of a run's attempt; behind it, that of one of its build steps."""
_API = "/api/v1"


class SignedLinks:
    """Implements `launchers.links.Links`. `base_url`: how nodes reach the server; `now`: the
    database's clock in seconds since 1970."""

    def __init__(
        self, base_url: str, key: bytes, now: Callable[[], float], harness_sha256: str
    ) -> None:
        self._base_url = base_url.rstrip("/") + _API
        self._key = key
        self._now = now
        self._harness_sha256 = harness_sha256

    def for_job(self, job_id: str, valid_s: float) -> NodeLinks:
        """Implements `launchers.links.Links`."""
        expires_at = int(self._now() + valid_s)
        return NodeLinks(
            payload_url=self._url(Purpose.PAYLOAD, job_id, expires_at),
            events_url=self._url(Purpose.EVENTS, job_id, expires_at),
            harness_url=f"{self._base_url}/harness/{self._harness_sha256}",
            harness_sha256=self._harness_sha256,
        )

    def _url(self, purpose: Purpose, job_id: str, expires_at: int) -> str:
        signed = sign(self._key, purpose, job_id, expires_at)
        # Behind the question mark, because paths are written into logs.
        query = urlencode({"expires": expires_at, "signature": signed.signature})
        return f"{self._base_url}/jobs/{job_id}/{purpose}?{query}"


async def open_links(database: Database, base_url: str, harness: bytes) -> SignedLinks:
    """What signs links for this worker's jobs. The clock is the database's as it was now, carried
    on: this machine's may be wrong, and the server decides by the database's."""
    async with database.read() as session:
        found = await node_jobs.key(session)
    ahead_s = found.now_s - time.monotonic()
    sha256 = hashlib.sha256(harness).hexdigest()
    return SignedLinks(base_url, found.key, lambda: time.monotonic() + ahead_s, sha256)


class NodeJobs:
    """The server's side of the links."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._encoding = asyncio.Semaphore(_ENCODED_AT_ONCE)

    async def payload(self, link: Signed) -> str:
        """The job as `encode_payload` writes it, the same as its launcher had; a build step is told
        the name of the device that it builds for.

        Raises `NotAllowed` for a link that we didn't make for this, `LinkExpired` if its time is
        over or the job's.
        """
        attempt, side = await self._opened(link, Purpose.PAYLOAD)
        async with self._database.read() as session:
            spec = await node_jobs.job(session, attempt)
        if spec is None or (side is Side.OPPONENT and spec.opponent is None):
            raise _job_over()
        if side is not None:
            spec = build_job(job_of(spec, side), link.subject, spec.device.name)
        return await self._encoded(spec)

    async def progressed(self, link: Signed, first: int, events: Sequence[ProgressEvent]) -> int:
        """Store a job's progress for those who follow it; returns how many events have come, all in
        all. `first`: which of the job's the first of these is, from 0. Those that came before are
        passed over, so that nothing is told twice. Those of a build step are dropped.

        Raises `NotAllowed`, `LinkExpired` as above, `UserError` for more than `MAX_EVENTS`.
        """
        attempt, side = await self._opened(link, Purpose.EVENTS)
        count = first + len(events)
        if side is not None:  # what is worth telling of it, its worker tells
            return count
        if count > MAX_EVENTS:
            raise UserError(f"A job tells of {MAX_EVENTS} events at most.")
        async with self._database.write() as session:
            run = await attempts.lock_run_ref(session, attempt.run_id)
            received = await node_jobs.events_received(session, attempt)
            if run is None or received is None:
                raise _job_over()
            if count > received:
                news = events[max(0, received - first) :]
                await attempts.add_progress(session, run.followed_id, run.id, steps(news))
                await node_jobs.receive_events(session, attempt, count)
        return max(count, received)

    async def _opened(self, link: Signed, purpose: Purpose) -> tuple[AttemptName, Side | None]:
        """The attempt that a link is for, and of whose file's build step; None: of its run."""
        async with self._database.read() as session:
            found = await node_jobs.key(session)
        named = _JOB_ID.fullmatch(link.subject)
        if named is None or not is_genuine(found.key, purpose, link):
            raise NotAllowed(
                f"This isn't a link to the {purpose} of this job.",
                hint="A launcher makes one for each job; it can't be changed or used for another.",
            )
        if link.expires_at <= found.now_s:
            raise LinkExpired(
                "This link was valid for a while, which is over.",
                hint="The platform makes a new one with the job's next attempt.",
            )
        return AttemptName(int(named[1]), int(named[2])), Side(named[3]) if named[3] else None

    async def _encoded(self, spec: JobSpec) -> str:
        """In a thread, and few at once: a large job takes a second and several times its size."""
        async with self._encoding:
            return await asyncio.to_thread(encode_payload, spec)


def _job_over() -> LinkExpired:
    return LinkExpired(
        "This job isn't open any more: it has ended, or was cancelled.",
        hint="There is nothing more to do for it.",
    )
