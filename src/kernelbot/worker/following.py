"""One attempt from launch to verdict."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from kernelbot.domain.errors import KernelbotError, SchedulerError, Unavailable
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.protocol import Fault
from kernelbot.protocol.os_errors import in_words
from kernelbot.services.run_lifecycle import Claim, RunLifecycle
from kernelbot.worker.tally import Tally

_POLL_S = 0.2
T = TypeVar("T")
log = structlog.get_logger()


async def patiently(step: Callable[[], Awaitable[T]]) -> T:
    """Do a step however long the database is away. Steps are guarded by state, so doing one
    again that had taken effect changes nothing."""
    delay_s = 0.1
    while True:
        try:
            return await step()
        except Unavailable:
            await asyncio.sleep(delay_s * random.uniform(0.5, 1.5))
            delay_s = min(delay_s * 2, 2.0)


class Following:
    """Sees an attempt through. `judging` stores, `launcher` executes."""

    def __init__(
        self, judging: RunLifecycle, launcher: Launcher, owner: str, claim: Claim, tally: Tally
    ) -> None:
        self._judging = judging
        self._launcher = launcher
        self._owner = owner
        self._tally = tally
        self.claim = claim
        self._handle = claim.handle
        self._log = log.bind(
            submission=claim.submission_id, run=claim.run_id, attempt=claim.spec.job_id
        )

    async def see_through(self) -> None:
        """Launch, pass progress on, store the outcome. Cancelled: the job is stopped."""
        try:
            outcome = await self._execute()
        except asyncio.CancelledError:
            await asyncio.shield(self._stop())
            raise
        if outcome is not None:
            await self._store(outcome)
        await self._forget()

    async def give_back(self) -> None:
        """After `see_through` was cancelled because this worker stops: let others have it."""
        with contextlib.suppress(Unavailable):  # then it grows stale and is taken over
            await self._judging.give_back(self.claim, self._owner)

    async def lose(self, reason: str, fault: Fault) -> None:
        """Write down that the infrastructure failed this attempt."""
        self._log.warning("attempt_lost", reason=reason)
        await patiently(lambda: self._judging.lost(self.claim, self._owner, reason, fault))

    async def _execute(self) -> Outcome | None:
        """What came of it; None when it isn't ours any more."""
        try:
            if self._handle is None:
                self._handle = await self._launcher.launch(self.claim.spec)
            handle = self._handle
            self._log.info("launched", device=self.claim.spec.device.name)
            if not await patiently(lambda: self._judging.launched(self.claim, self._owner, handle)):
                await self._launcher.cancel(handle)
                return None
            async for events in self._launcher.events(handle):
                batch = list(events)
                if not await patiently(
                    lambda: self._judging.progressed(self.claim, self._owner, batch)  # noqa: B023  # awaited at once
                ):
                    await self._launcher.cancel(handle)
                    return None
            outcome = await self._launcher.poll(handle)
            while outcome.state == JobState.RUNNING:
                await asyncio.sleep(_POLL_S)
                outcome = await self._launcher.poll(handle)
        except (KernelbotError, OSError) as error:
            self._tally.add("launcher_errors", self.claim.launcher)
            fault = error.fault if isinstance(error, SchedulerError) else Fault.PLATFORM
            self._log.warning("launcher_failed", error=repr(error))
            await self.lose(in_words(error), fault)
            return None
        return outcome

    async def _store(self, outcome: Outcome) -> None:
        if outcome.result is not None:
            result = outcome.result
            applied = await patiently(lambda: self._judging.finish(self.claim, self._owner, result))
            if applied:
                self._tally.add("verdicts", result.verdict)
            self._log.info("finished", verdict=result.verdict, applied=applied)
        else:
            self._tally.add("launcher_errors", self.claim.launcher)
            await self.lose(outcome.reason, Fault.PLATFORM)

    async def _stop(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(KernelbotError, OSError):
                await self._launcher.cancel(self._handle)
            await self._forget()

    async def _forget(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(KernelbotError, OSError):
                await self._launcher.forget(self._handle)
