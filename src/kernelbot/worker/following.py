"""One attempt from launch to verdict."""

import asyncio
import contextlib
from collections.abc import Iterable

import structlog

from kernelbot.domain.errors import JobRefused, KernelbotError, SchedulerError, Unavailable
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.protocol import Fault, ProgressEvent
from kernelbot.protocol.os_errors import in_words
from kernelbot.services.run_lifecycle import Claim, RunLifecycle
from kernelbot.worker.retries import until_available, with_retries
from kernelbot.worker.tally import Tally
from kernelbot.worker.watching import Watcher

_LAUNCH_LIMIT_S = 20.0
"""How long a launch that nobody waits for any more may go on, until its handle is known."""
log = structlog.get_logger()


class Following:
    """Sees an attempt through. `judging` stores, `launcher` executes, `watcher` says what became
    of it."""

    def __init__(
        self,
        judging: RunLifecycle,
        launcher: Launcher,
        watcher: Watcher,
        owner: str,
        claim: Claim,
        tally: Tally,
    ) -> None:
        self._judging = judging
        self._launcher = launcher
        self._watcher = watcher
        self._owner = owner
        self._tally = tally
        self.claim = claim
        self._handle = claim.handle
        self._has_outcome = False
        self.was_cancelled = False
        """A second time would interrupt what it does to leave no job behind."""
        self._log = log.bind(
            submission=claim.submission_id, run=claim.run_id, attempt=claim.spec.job_id
        )

    @property
    def tidies_up(self) -> bool:
        """Whether its attempt may be closed while it is still at work, by itself or by others."""
        return self._has_outcome or self.was_cancelled

    async def see_through(self) -> None:
        """Launch, pass progress on, store the outcome. Cancelled: the job is stopped, unless it can
        go on without this process and somebody will ask for it."""
        try:
            outcome = await self._execute()
        except asyncio.CancelledError:
            self.was_cancelled = True
            await asyncio.shield(self._let_go())
            raise
        self._has_outcome = True
        if outcome is not None:
            await self._store(outcome)
            await self._forget()

    async def give_back(self) -> None:
        """After `see_through` was cancelled because this worker stops: let others have it."""
        if self._launcher.traits.remote:
            return  # it goes on, and whoever takes the attempt over finds it
        with contextlib.suppress(Unavailable):  # then it grows stale and is taken over
            await self._judging.give_back(self.claim, self._owner)

    async def lose(self, reason: str, fault: Fault, *, again: bool = True) -> None:
        """Write down that the infrastructure failed this attempt; `again`: another may succeed."""
        self._log.warning("attempt_lost", reason=reason, fault=fault)
        await until_available(
            lambda: self._judging.lost(self.claim, self._owner, reason, fault, again=again)
        )

    async def _execute(self) -> Outcome | None:
        """What came of it; None if that is settled already."""
        try:
            if self._handle is None:
                self._handle = await self._launch()
            handle = self._handle
            self._log.info("launched", device=self.claim.spec.device.name, handle=handle)
            if await until_available(
                lambda: self._judging.launched(self.claim, self._owner, handle)
            ):
                return await self._watch(handle)
        except (KernelbotError, OSError) as error:
            self._tally.add("launcher_errors", self.claim.launcher)
            fault = error.fault if isinstance(error, SchedulerError) else Fault.PLATFORM
            self._log.warning("launcher_failed", error=repr(error))
            await self.lose(in_words(error), fault, again=not isinstance(error, JobRefused))
            return None
        await self._let_go()
        return None

    async def _launch(self) -> str:
        """Cancelled: waits all the same until it is known whether there is a job to stop."""
        launching = asyncio.ensure_future(
            with_retries(lambda: self._launcher.launch(self.claim.spec))
        )
        try:
            return await asyncio.shield(launching)
        except asyncio.CancelledError:
            self.was_cancelled = True
            await asyncio.wait([launching], timeout=_LAUNCH_LIMIT_S)
            if launching.done() and not launching.cancelled() and not launching.exception():
                self._handle = launching.result()
            launching.cancel()
            raise

    async def _watch(self, handle: str) -> Outcome | None:
        """Live progress as long as there is any, and then what the watcher finds."""
        async for events in self._launcher.events(handle):
            if not await self._progressed(events):
                return None
        async for outcome in self._watcher.changes(handle):
            tells = outcome.events or outcome.state is JobState.RUNNING
            if tells and not await self._progressed(outcome.events):
                return None
            if outcome.state.is_over:
                return outcome
        return None

    async def _progressed(self, events: Iterable[ProgressEvent]) -> bool:
        """Pass progress on. False: the attempt isn't ours any more, and has been let go of."""
        batch = list(events)
        if await until_available(lambda: self._judging.progressed(self.claim, self._owner, batch)):
            return True
        await self._let_go()
        return False

    async def _store(self, outcome: Outcome) -> None:
        if outcome.result is not None:
            result = outcome.result
            applied = await until_available(
                lambda: self._judging.finish(self.claim, self._owner, result)
            )
            if applied:
                self._tally.add("verdicts", result.verdict)
            self._log.info("finished", verdict=result.verdict, applied=applied)
        else:
            self._tally.add("launcher_errors", self.claim.launcher)
            await self.lose(outcome.reason, outcome.fault)

    async def _let_go(self) -> None:
        """Stop the job, unless it runs elsewhere and its attempt is open: then another worker
        follows it, or will."""
        if self._handle is None or (self._launcher.traits.remote and await self._is_open()):
            return
        with contextlib.suppress(KernelbotError, OSError):
            await self._launcher.cancel(self._handle)
        await self._forget()

    async def _is_open(self) -> bool:
        try:
            return await self._judging.is_open(self.claim)
        except Unavailable:
            return True  # whoever closes it afterwards leaves a job whose result nobody takes

    async def _forget(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(KernelbotError, OSError):
                await self._launcher.forget(self._handle)
