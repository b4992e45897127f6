"""One attempt from launch to verdict."""

import asyncio
import contextlib
import time
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial

import structlog

from kernelbot.domain.errors import (
    DeviceRefused,
    JobRefused,
    KernelbotError,
    NoRoom,
    SchedulerError,
    Unavailable,
)
from kernelbot.launchers.base import JobState, Launcher, Left, Outcome
from kernelbot.launchers.results import NoResult, is_small
from kernelbot.protocol import EventKind, Fault, ProgressEvent, RunResult
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.result_size import most_bytes
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.worker.brakes import Brake
from kernelbot.worker.building import Builder, Workshop
from kernelbot.worker.launching import launch_whole
from kernelbot.worker.moments import Moment
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.retries import jittered, until_available
from kernelbot.worker.tally import Tally
from kernelbot.worker.unended import UnendedJobs
from kernelbot.worker.watching import Watcher

_LOOK_S = 1.0
"""Between two looks for a job that may not show yet."""
_SLACK_S = 60.0
"""What a node's samples may take beyond the time that we saw: this machine's clock may be set, and
it may sleep."""
log = structlog.get_logger()


class FollowingStage(StrEnum):
    """How far an attempt is seen through; each only goes on to a later one. Others may close an
    attempt at any time, and the worker that follows it closes it at the end of `STORING`: so that
    an attempt is closed is a reason to stop in `FOLLOWING` alone. That the worker stops is one in
    `STORING`, too. Nothing interrupts `TIDYING`."""

    FOLLOWING = "following"
    """The job is launched and followed."""
    STORING = "storing"
    """Its outcome is known, and is written down."""
    TIDYING = "tidying"
    """What is left is to leave no job behind."""


class AttemptFollower:
    """Sees an attempt through. `judging` stores, `launcher` executes, `watcher` says what became
    of it, `reader` what that means; `brake` is told how it went with this launcher and device, and
    `unended` ends jobs that are given up."""

    def __init__(
        self,
        judging: RunLifecycle,
        launcher: Launcher,
        watcher: Watcher,
        reader: ResultReader,
        brake: Brake,
        unended: UnendedJobs,
        owner: str,
        claim: Claim,
        tally: Tally,
        workshop: Workshop | None = None,
    ) -> None:
        """`workshop`: where what the run needs is built before it is launched; None: nowhere."""
        self._judging = judging
        self._launcher = launcher
        self._watcher = watcher
        self._reader = reader
        self._brake = brake
        self._unended = unended
        self._owner = owner
        self._tally = tally
        self._workshop = workshop
        self._build_s: float | None = None
        """How long it took until what the run needs was built; None: it wasn't waited for."""
        self._last: tuple[ProgressEvent, ...] = ()
        """Progress that is stored together with the outcome."""
        self.claim = claim
        self._began = Moment.now()
        self._handle = claim.handle
        self._may_have_a_job = claim.handle is not None
        """Whether a scheduler was asked for one, and hasn't refused it."""
        self._has_begun = False
        """Whether the scheduler has said so."""
        self._stage = FollowingStage.FOLLOWING
        self._log = log.bind(
            submission=claim.submission_id, run=claim.run_id, attempt=claim.spec.job_id
        )

    @property
    def stage(self) -> FollowingStage:
        """What it is about."""
        return self._stage

    @property
    def builds_first(self) -> bool:
        """Whether `build` comes before `see_through`."""
        return self._workshop is not None and self._handle is None

    async def build(self) -> bool:
        """Have what the run needs built, and store what it will carry. False: the run has ended
        with that, because it doesn't compile. Cancelled: see `Builder`."""
        assert self._workshop is not None, "see `builds_first`"
        builder = Builder(self._workshop, self.claim, self._owner, self._on_cancel)
        prepared = await builder.prepare()
        if prepared.refused is not None:
            self._stage = FollowingStage.STORING
            await self._finish(prepared.refused, prepared.took_s)
            self._stage = FollowingStage.TIDYING
            return False
        self._build_s = prepared.took_s
        self.claim = replace(self.claim, spec=prepared.spec)
        await until_available(lambda: self._judging.carries(self.claim))
        return True

    def _on_cancel(self) -> None:
        self._stage = FollowingStage.TIDYING

    async def see_through(self) -> None:
        """Launch, pass progress on, store the outcome, have the job forgotten. Cancelled: the job
        is stopped, unless it can go on, or has ended, without this process and somebody will ask
        for it."""
        try:
            outcome = await self._execute()
            if outcome is None:
                self._stage = FollowingStage.TIDYING
                return
            self._stage = FollowingStage.STORING
            applied = await self._store(outcome)
        except asyncio.CancelledError:
            has_outcome, self._stage = self._stage is FollowingStage.STORING, FollowingStage.TIDYING
            await asyncio.shield(self._let_go(has_outcome=has_outcome))
            raise
        self._stage = FollowingStage.TIDYING
        if applied and outcome.state is JobState.LOST:
            await self._end()  # it may go on, of which only we know nothing any more
        elif applied:
            await self._forget()
        else:
            await self._let_go(has_outcome=True)

    async def give_back(self) -> None:
        """After `see_through` was cancelled because this worker stops: let others have it."""
        if self._launcher.traits.remote:
            return  # it goes on, and whoever takes the attempt over finds it
        with contextlib.suppress(Unavailable):  # then it grows stale and is taken over
            await self._judging.give_back(self.claim, self._owner, "the worker stopped")

    def is_over(self) -> None:
        """The attempt isn't followed any more."""
        self._brake.over(self.claim.attempt_id)

    async def lose(self, reason: str, fault: Fault, *, again: bool = True) -> bool:
        """Write down that the infrastructure failed this attempt; `again`: another may succeed.
        False: it had ended, or was taken over, before."""
        attempt_id, run_id = self.claim.attempt_id, self.claim.run_id
        counts = not again or self._brake.lost(attempt_id, run_id, reason)
        return await self._lose(reason, fault, again=again, counts=counts)

    async def crashed(self, reason: str) -> None:
        """What saw the attempt through has failed by a mistake of ours."""
        if await self.lose(reason, Fault.PLATFORM):
            await self._end()

    async def _lose(self, reason: str, fault: Fault, *, again: bool, counts: bool) -> bool:
        self._log.warning("attempt_lost", reason=reason, fault=fault, counts=counts)
        return await until_available(
            lambda: self._judging.lost(
                self.claim,
                self._owner,
                reason,
                fault,
                again=again,
                counts=counts,
                events=self._last,
            )
        )

    async def _execute(self) -> Outcome | None:
        """What came of it; None if that is settled already."""
        try:
            if self._handle is None and not await self._launch():
                return None
            handle = self._handle
            assert handle is not None, "it is launched"
            self._brake.taken(self.claim.attempt_id)
            self._log.info("launched", device=self.claim.spec.device.name, handle=handle)
            if await until_available(
                lambda: self._judging.launched(self.claim, self._owner, handle)
            ):
                return await self._watch(handle)
        except (KernelbotError, OSError) as error:
            self._tally.add("launcher_errors", self.claim.launcher)
            fault = error.fault if isinstance(error, SchedulerError) else Fault.PLATFORM
            self._log.warning("launcher_failed", error=repr(error))
            again = not isinstance(error, JobRefused)
            if await self.lose(in_words(error), fault, again=again) and again:
                await self._end()
            return None
        await self._let_go()
        return None

    async def _launch(self) -> bool:
        """False: it wasn't taken, through no fault of its own, and its run waits again. Cancelled:
        waits all the same until it is known whether there is a job to stop."""
        attempt_id = self.claim.attempt_id
        self._may_have_a_job = True
        try:
            await self._find_what_another_launched()
            if self._handle is None:
                self._handle = await self._launch_as_it_may_be()
            return True
        except NoRoom as error:
            self._may_have_a_job = error.unsure
            reason = in_words(error)
            self._brake.full(attempt_id, reason)
            self._log.info("no_room", reason=reason)
            await until_available(lambda: self._judging.give_back(self.claim, self._owner, reason))
            await self._let_go()
        except DeviceRefused as error:
            self._may_have_a_job = False
            self._tally.add("launcher_errors", self.claim.launcher)
            reason = in_words(error)
            counts = self._brake.refused(attempt_id, reason)
            await self._lose(reason, error.fault, again=True, counts=counts)
        return False

    async def _launch_as_it_may_be(self) -> str:
        """The job's handle. If the scheduler never takes so long a job as two runs need, this run's
        alone is launched."""
        launch = partial(launch_whole, on_cancel=self._on_cancel, known=self._know)
        try:
            return await launch(self._launcher, self.claim.spec)
        except JobRefused:
            if self.claim.spec.follow_up is None:
                raise
        self.claim = replace(self.claim, spec=self.claim.spec.alone)
        await until_available(lambda: self._judging.carries(self.claim))
        return await launch(self._launcher, self.claim.spec)

    async def _find_what_another_launched(self) -> None:
        """Whoever had the attempt before may have been killed between its launch and the record of
        it, and not every scheduler shows a job at once."""
        ends_at = time.monotonic() + (self._launcher.traits.late_s if self.claim.age_s > 0 else 0)
        while self._handle is None and time.monotonic() < ends_at:
            with contextlib.suppress(SchedulerError):  # the launch has patience, and says why
                self._handle = await self._launcher.find(self.claim.spec.job_id)
            if self._handle is None:
                await asyncio.sleep(jittered(_LOOK_S))

    def _know(self, handle: str) -> None:
        self._handle = handle

    async def _watch(self, handle: str) -> Outcome | None:
        """Live progress as long as there is any, and then what the watcher finds. The last is left
        for the transaction of what it ends with, if that follows at once."""
        async for events in self._launcher.events(handle):
            if any(event.kind is EventKind.FINISHED for event in events):
                self._last = events
            elif not await self._progressed(events):
                return None
        waited_s, spec = self.claim.age_s + self._began.elapsed_s(), self.claim.spec
        changes = self._watcher.changes(handle, most_bytes(spec), waited_s, spec.longest_s)
        async with contextlib.aclosing(changes):  # else another task would be begun for its end
            async for outcome in changes:
                await self._tell_whether_it_waits(outcome)
                events, self._last = (*self._last, *outcome.events), ()
                if self._is_stored_at_once(outcome):
                    self._last = events
                    return outcome
                tells = events or outcome.state is JobState.RUNNING
                if tells and not await self._progressed(events):
                    return None
                if outcome.state.is_over:
                    return outcome
        return None

    def _is_stored_at_once(self, outcome: Outcome) -> bool:
        """Whether it is known what is to be written. A large result is read first, and what may be
        ranked is examined."""
        is_short = outcome.left is None or is_small(outcome.left)
        return outcome.state.is_over and is_short and not self.claim.is_ranked

    async def _progressed(self, events: Iterable[ProgressEvent]) -> bool:
        """Pass progress on. False: the attempt isn't ours any more, and has been let go of."""
        batch = list(events)
        if await until_available(lambda: self._judging.progressed(self.claim, self._owner, batch)):
            return True
        await self._let_go()
        return False

    async def _tell_whether_it_waits(self, outcome: Outcome) -> None:
        """Until it begins, why; and that it has begun, if its progress doesn't say so because it
        was built before."""
        if self._has_begun:
            return
        self._has_begun = outcome.state is JobState.RUNNING
        waits = outcome.state is JobState.WAITING and bool(outcome.reason)
        if waits or (self._has_begun and self._build_s is not None):
            reason = outcome.reason if waits else ""
            await until_available(lambda: self._judging.waits(self.claim, self._owner, reason))

    async def _store(self, outcome: Outcome) -> bool:
        """False: the attempt had ended, or was taken over, before."""
        result = await self._read(outcome.left) if outcome.left is not None else None
        if isinstance(result, RunResult):
            self._brake.judged()
            assert outcome.left is not None, "it was read"
            return await self._finish(result, self._build_s, await self._read_next(outcome.left))
        self._tally.add("launcher_errors", self.claim.launcher)
        return await self.lose(result or outcome.reason, outcome.fault)

    async def _finish(
        self, result: RunResult, build_s: float | None, next_result: RunResult | None = None
    ) -> bool:
        """Write the verdict. False as in `_store`."""
        if build_s is not None:
            result = replace(result, timings={**result.timings, "build": build_s})
        applied = await until_available(
            lambda: self._judging.finish(self.claim, self._owner, result, self._last, next_result)
        )
        if applied:
            for one in filter(None, (result, next_result)):
                self._tally.add("verdicts", one.verdict)
        self._log.info("finished", verdict=result.verdict, applied=applied)
        return applied

    async def _read(self, left: Left) -> RunResult | str:
        """What the node has left; or why that is no result, for the attempt that follows."""
        within_s = self.claim.age_s + self._began.elapsed_s() + _SLACK_S
        try:
            return await self._reader.read(left, self.claim.spec, within_s)
        except NoResult as error:
            self._log.error(
                "result_refused",
                launcher=self.claim.launcher,
                handle=self._handle,
                result_bytes=len(left.content),
                reason=str(error),
            )
            return str(error)

    async def _read_next(self, left: Left) -> RunResult | None:
        """The result of what followed; None: nothing did, or what there is can't be its result.
        Then that run has a job of its own."""
        if self.claim.spec.follow_up is None:
            return None
        within_s = self.claim.age_s + self._began.elapsed_s() + _SLACK_S
        try:
            return await self._reader.read(left, self.claim.spec, within_s, of_next=True)
        except NoResult as error:
            self._log.info("nothing_followed", reason=str(error))
            return None

    async def _let_go(self, *, has_outcome: bool = False) -> None:
        """Stop the job, unless it runs elsewhere or has ended, and its attempt is open: then
        another worker follows it, or will."""
        lasts = has_outcome or self._launcher.traits.remote
        if not self._may_have_a_job or (lasts and await self._is_open()):
            return
        await self._end()

    async def _is_open(self) -> bool:
        try:
            return await self._judging.is_open(self.claim)
        except Unavailable:
            return True  # whoever closes it afterwards leaves a job whose result nobody takes

    async def _end(self) -> None:
        """Stop the job, and have it forgotten; later, if that can't be done now. If the scheduler
        hasn't told of one, it may have it all the same."""
        if self._handle is not None:
            await self._unended.end(self._handle)
        elif self._may_have_a_job and self._launcher.traits.remote:
            self._unended.seek(self.claim.spec.job_id)

    async def _forget(self) -> None:
        """What can't be done now is done later: some schedulers keep a result in memory for ever,
        or a job for whoever may read it."""
        if self._handle is None:
            return
        try:
            await self._launcher.forget(self._handle)
        except (KernelbotError, OSError) as error:
            self._log.warning("job_not_forgotten", handle=self._handle, error=in_words(error))
            await self._unended.end(self._handle)
