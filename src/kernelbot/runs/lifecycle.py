"""The steps of judging a run, which the worker calls; each is one guarded transaction."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from kernelbot.boards import store as boards
from kernelbot.domain.errors import PlatformError, Unavailable
from kernelbot.domain.states import RunState
from kernelbot.domain.values import from_fields
from kernelbot.duels import dueling
from kernelbot.moderation.known_right import service as known_right
from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.moderation.triage import Triage
from kernelbot.protocol import (
    Fault,
    Limits,
    ProgressEvent,
    RunResult,
    SamplingRules,
    SandboxMode,
)
from kernelbot.runs import ending
from kernelbot.runs import store as attempts
from kernelbot.runs.claims import Claim, why_not_followed
from kernelbot.runs.devices.model import DeviceConfig, DeviceReport
from kernelbot.runs.files import under_safe_names
from kernelbot.runs.finishing import Finishing, Judged
from kernelbot.runs.going_on import begin_next, with_follow_up
from kernelbot.runs.job_terms import JobTerms
from kernelbot.runs.jobs import JobSpecs
from kernelbot.runs.model import RunRef
from kernelbot.runs.progress import last_steps, steps
from kernelbot.runs.queue.model import QueueRules
from kernelbot.runs.store import LockedRun, OpenAttempt
from kernelbot.runs.workers import store as workers
from kernelbot.store.database import Database, WriteSession


@dataclass(frozen=True)
class RunRules:
    """What every job gets, and after how long a silent worker counts as dead."""

    limits: Limits
    sampling: SamplingRules
    sandbox: SandboxMode
    stale_s: float
    review: ReviewRules = field(default_factory=ReviewRules)
    queue: QueueRules = field(default_factory=QueueRules)


class RunLifecycle:
    """Everything that changes a run from its claim to its end."""

    def __init__(
        self,
        database: Database,
        devices: tuple[DeviceConfig, ...],
        rules: RunRules,
        triage: Triage | None = None,
    ) -> None:
        """`triage`: what ranked submissions are shown to; None: nothing."""
        self._database = database
        self._devices = {device.spec.name: device for device in devices}
        self._rules = rules
        self._finishing = Finishing(database, rules.review, triage)
        self._jobs = JobSpecs(rules.limits, rules.sampling, rules.sandbox)
        self._ending: set[int] = set()
        """Attempts that were judged with another one and are about to be written."""

    async def claim(
        self,
        device_name: str,
        owner: str,
        *,
        available: Collection[str] | None = None,
        goes_on: Collection[str] = (),
        takes_over: bool = True,
    ) -> Claim | None:
        """Take over an attempt on the device that a dead worker left, since it had its turn. Else
        begin the next attempt of the run whose author's turn it is, on the first of the device's
        launchers that is `available` (None: all are). If none is, waiting runs go on waiting.
        `goes_on`: the launchers whose nodes may judge a GPU's secret run after its public one. Not
        `takes_over`: what seems to be left may not be, and stays.

        None if there is nothing to do, or the run can't be judged at all, which ends it.
        """
        device = self._devices[device_name]
        usable = (n for n in device.launchers if available is None or n in available)
        launcher = next(usable, None)
        stale_s = self._rules.stale_s
        async with self._database.read() as session:
            work = await attempts.work(session, device_name, stale_s=stale_s)
        if work.duels:
            await dueling.enqueue(self._database, device_name)
        if work.known_right:
            await known_right.enqueue(self._database, device_name)
        abandoned = work.abandoned and takes_over
        more = launcher is not None and (work.queued or work.duels or work.known_right)
        if not (abandoned or more):
            return None
        async with self._database.write() as session:
            run = None
            if abandoned:
                run = await attempts.abandoned_run(session, device_name, stale_s=stale_s)
            if run is None and more:
                run = await attempts.claim_next(
                    session, device_name, self._rules.queue, owner=owner, stale_s=stale_s
                )
            if run is None or await dueling.is_moot(session, run):
                return None
            together = launcher in goes_on
            attempt = await self._begin(session, run, device, launcher, owner, together=together)
            if attempt is None:
                return None
            if reason := why_not_followed(attempt, device):
                await ending.lose(session, run, attempt.id, owner, reason, Fault.PLATFORM)
                return None
            try:
                spec = await self._jobs.spec(session, run, device, attempt)
            except PlatformError as error:
                await self._end_hopeless(session, run, attempt, owner, str(error))
                return None
        return Claim(
            attempt_id=attempt.id,
            run_id=run.id,
            submission_id=run.submission_id,
            spec=spec,
            launcher=attempt.launcher,
            handle=attempt.handle,
            run=from_fields(RunRef, run),
            waited_s=run.waited_s,
            age_s=attempt.age_s,
            is_ranked=run.secret and run.followed_id is not None,
            alone=attempt.number > 1 or run.rejudge_id is not None or run.known_id is not None,
        )

    async def _begin(
        self,
        session: WriteSession,
        run: LockedRun,
        device: DeviceConfig,
        launcher: str | None,
        owner: str,
        *,
        together: bool,
    ) -> OpenAttempt | None:
        if run.state != RunState.QUEUED or launcher is None:
            return await attempts.take_over(
                session, run.id, owner=owner, stale_s=self._rules.stale_s
            )
        terms = self._jobs.terms(run, device, run.attempts + 1)
        if together:
            terms = await with_follow_up(session, run, device, self._jobs, terms)
        return await attempts.open_attempt(
            session, run, launcher=launcher, owner=owner, terms=terms
        )

    async def _end_hopeless(
        self, session: WriteSession, run: LockedRun, attempt: OpenAttempt, owner: str, why: str
    ) -> None:
        """End a run that no attempt can judge: else it would stay first in the queue for ever and
        block all runs behind it."""
        await attempts.close(session, run, attempt.id, owner, "lost", failure=why)
        await ending.fail(session, run, Fault.PLATFORM, why)

    async def launched(self, claim: Claim, owner: str, handle: str) -> bool:
        """The scheduler has accepted it. False: it was cancelled or taken over meanwhile."""
        async with self._database.autocommit() as session:
            return await attempts.launched(session, claim.attempt_id, owner, handle)

    async def carries(self, claim: Claim) -> None:
        """Store what the attempt's job carries, for nodes that fetch it."""
        async with self._database.autocommit() as session:
            await attempts.keep_terms(session, claim.attempt_id, JobTerms.from_job(claim.spec))

    async def still_open(self, claim: Claim, owner: str) -> bool:
        """Whether the attempt is this worker's to follow: neither cancelled nor taken over."""
        async with self._database.read() as session:
            return await attempts.still_mine(session, claim.attempt_id, owner)

    async def is_open(self, claim: Claim) -> bool:
        """Whether anybody follows the attempt, or may yet: it has neither ended nor been
        cancelled."""
        async with self._database.read() as session:
            return await attempts.is_open(session, claim.attempt_id)

    async def progressed(self, claim: Claim, owner: str, events: list[ProgressEvent]) -> bool:
        """Store progress events for those who follow. False as in `launched`."""
        followed_id = claim.submission_id if claim.spec.opponent is None else None
        async with self._database.autocommit() as session:
            return await attempts.add_own_progress(
                session, followed_id, claim.run_id, claim.attempt_id, owner, steps(events)
            )

    async def waits(self, claim: Claim, owner: str, reason: str) -> None:
        """Tell those who follow the run why its scheduler hasn't begun its job; empty: it has.
        Nothing happens if the attempt was cancelled or taken over meanwhile."""
        async with self._database.write() as session:
            run = await attempts.lock_run_ref(session, claim.run_id)
            if run is not None and await attempts.still_mine(session, claim.attempt_id, owner):
                await ending.tell_whether_it_waits(session, run, reason)

    async def finish(
        self,
        claim: Claim,
        owner: str,
        result: RunResult,
        events: Sequence[ProgressEvent] = (),
        next_result: RunResult | None = None,
    ) -> bool:
        """Write the verdict with all that depends on it, in one transaction; before it the judge's
        last `events`, for those who follow. The same transaction begins the attempt whose
        `next_result` it is, if any, so that nobody else does; the next one ends it.

        False if the attempt had ended before: nothing is written twice.
        """
        result = replace(result, artifacts=under_safe_names(result.artifacts))
        judged = Judged(claim.run, claim.attempt_id, owner, claim.spec, result, last_steps(events))
        begun: Claim | None = None

        async def begin(session: WriteSession) -> None:
            nonlocal begun
            begun = await begin_next(session, claim, owner, self._devices, self._jobs)

        finished = await self._finishing.finish(judged, None if next_result is None else begin)
        await self._finish_next(begun, owner, next_result)
        return finished

    async def _finish_next(self, begun: Claim | None, owner: str, result: RunResult | None) -> None:
        """Write its verdict. If that can't be done now, the attempt grows stale, and whoever takes
        it over has it judged."""
        if begun is None or result is None:
            return
        self._ending.add(begun.attempt_id)
        try:
            with contextlib.suppress(Unavailable):
                await self.finish(begun, owner, result)
        finally:
            self._ending.discard(begun.attempt_id)

    async def lost(
        self,
        claim: Claim,
        owner: str,
        reason: str,
        fault: Fault,
        *,
        again: bool = True,
        events: Sequence[ProgressEvent] = (),
        counts: bool = True,
    ) -> bool:
        """The infrastructure failed: put the run back into the queue, or end it as our fault after
        the last attempt, or if another (not `again`) can't succeed. Not `counts`: what failed is
        known to fail all runs, and this one has lost no attempt. `events` and False as in
        `finish`."""
        async with self._database.write() as session:
            run = await attempts.lock_run_ref(session, claim.run_id)
            return run is not None and await ending.lose(
                session,
                run,
                claim.attempt_id,
                owner,
                reason,
                fault,
                again=again,
                counts=counts,
                progress=last_steps(events),
            )

    async def give_back(self, claim: Claim, owner: str, reason: str) -> None:
        """Put the run back into the queue, without counting a failure, and tell why."""
        async with self._database.write() as session:
            run = await attempts.lock_run_ref(session, claim.run_id)
            if run and await attempts.close(session, run, claim.attempt_id, owner, "returned"):
                await ending.requeue(session, run, {"reason": reason}, 0.0)

    async def heartbeat(
        self,
        owner: str,
        node: str,
        reports: list[DeviceReport],
        followed: set[int],
        counts: dict[tuple[str, str], float],
    ) -> set[int]:
        """Say that this worker is alive; returns the followed attempts that are still its own."""
        async with self._database.write() as session:
            mine = followed | self._ending
            return await workers.heartbeat(session, owner, node, reports, mine, counts)

    async def devices_for_torch(self) -> frozenset[str]:
        """The devices whose open boards will need torch, so that it can be loaded in advance."""
        async with self._database.read() as session:
            return await boards.devices_for_torch(session)

    async def owners(self, node: str) -> list[str]:
        """Every owner that may have an attempt and may run on this node."""
        async with self._database.read() as session:
            return await workers.owners(session, node)

    async def given_up(self, launchers: Collection[str]) -> list[tuple[str, str]]:
        """By these launchers, jobs whose attempts ended within a day without a result, and which
        may go on: the launcher's name and the job's id."""
        async with self._database.read() as session:
            return await workers.given_up(session, launchers)

    async def expire(self, gone: list[str]) -> int:
        """Allow that attempts of workers known to be dead are taken over at once; returns how many
        there were."""
        if not gone:
            return 0
        async with self._database.write() as session:
            return await workers.expire(session, gone)
