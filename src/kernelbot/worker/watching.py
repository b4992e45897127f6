"""What became of a launcher's jobs: one question for all that are in flight, again and again."""

import asyncio
import math
import random
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

import structlog
from structlog.typing import WrappedLogger

from kernelbot.domain.errors import RateLimited, SchedulerError
from kernelbot.launchers.base import JobState, Launcher, Outcome
from kernelbot.protocol import Fault
from kernelbot.render.units import wait_text
from kernelbot.worker.crashes import Crashes, is_crash
from kernelbot.worker.retries import set_or_after

_GROWTH = 1.25
_FIRST_STEP_S = 0.02
_CRASHES = 2
_LONGEST_REST_S = 60.0
"""Another token may be given back before the limit of this one ends."""
log = structlog.get_logger()


@dataclass
class _Followed:
    """A job, and what is known of it."""

    most_bytes: int
    """How large its result can be."""
    wait_until: float
    """When it is given up if it hasn't begun."""
    longest_s: float
    """How long it may run; infinite if that isn't known."""
    running_since: float | None = None
    """When it was first said to run; None: it isn't."""
    said: Outcome | None = None
    """What was said last."""
    outcomes: asyncio.Queue[Outcome] = field(default_factory=asyncio.Queue)
    """What its follower hasn't read yet."""

    @property
    def is_over(self) -> bool:
        return self.said is not None and self.said.state.is_over

    def is_news(self, outcome: Outcome) -> bool:
        """Whether it has another state or reason to wait, or progress."""
        if self.said is None or outcome.state != self.said.state or outcome.events:
            return True
        return outcome.state is JobState.WAITING and outcome.reason != self.said.reason


class Watcher:
    """Follows all jobs of one launcher. The pause between two questions is the launcher's shortest
    once anything has changed, and grows up to its longest while nothing does."""

    def __init__(self, name: str, launcher: Launcher, log: WrappedLogger = log) -> None:
        """`log`: where it says that the scheduler fails, and that it answers again."""
        self._log = log
        self._name = name
        self._launcher = launcher
        self._traits = launcher.traits
        self._followed: dict[str, _Followed] = {}
        self._news = asyncio.Event()
        self._asked_at = float("-inf")
        self._delay_s = self._traits.shortest_poll_s
        self._failing_since: float | None = None
        self._is_limited = False
        self._crashes = Crashes(name, self._log)
        self._crashed: list[str] = []
        """What the launcher raised by mistakes of its own, each time since it has last answered."""

    @property
    def crashing(self) -> str:
        """Why the launcher can say nothing of the jobs that are followed, if it has crashed more
        than once in a row; empty: it can, or there are none."""
        is_so = len(self._crashed) >= _CRASHES and self._open()
        return self._crashed[-1] if is_so else ""

    async def changes(
        self, handle: str, most_bytes: int, waited_s: float = 0.0, longest_s: float = math.inf
    ) -> AsyncGenerator[Outcome, None]:
        """Each change of the job's state, or of what it waits for, and each batch of its progress;
        ends with the outcome that is its last. A handle has one follower at a time. `most_bytes`:
        of the job's result. `waited_s`: since when there is the job; `longest_s`: what its limits
        allow together, if that is known."""
        job = self._followed[handle] = _Followed(
            most_bytes,
            wait_until=time.monotonic() + self._traits.wait_s - waited_s,
            longest_s=longest_s + self._traits.room_s,
        )
        self._news.set()
        try:
            while True:
                outcome = await job.outcomes.get()
                yield outcome
                if outcome.state.is_over:
                    return
        finally:
            del self._followed[handle]

    async def run(self) -> None:
        """Ask, for as long as there is anything to ask about. Never ends by itself."""
        while True:
            await self._pause()
            if asked := self._open():
                await self._ask(asked)

    def _open(self) -> list[str]:
        return [handle for handle, job in self._followed.items() if not job.is_over]

    async def _pause(self) -> None:
        """Until it is time to ask again: a new job shortens the pause, but not below the shortest,
        and not while the scheduler fails."""
        if not self._open():
            self._failing_since = None  # a job that comes later has patience of its own
            self._news.clear()
            await self._news.wait()
        wait_s = self._asked_at + self._delay_s - time.monotonic()
        if self._failing_since is not None or self._is_limited:
            await asyncio.sleep(wait_s)
            return
        if await set_or_after(self._news, wait_s):
            await asyncio.sleep(self._asked_at + self._traits.shortest_poll_s - time.monotonic())
        self._news.clear()

    async def _ask(self, handles: list[str]) -> None:
        self._asked_at = time.monotonic()
        longer_s = max(self._delay_s * _GROWTH, _FIRST_STEP_S)
        try:
            most_bytes = {handle: job.most_bytes for handle, job in self._followed.items()}
            found = await self._launcher.poll(handles, most_bytes)
        except RateLimited as error:
            self._rest(error)
            return
        except Exception as error:  # noqa: BLE001 (told; it ends no other launcher's watcher)
            self._delay_s = min(longer_s, self._traits.longest_poll_s) * random.uniform(0.8, 1.2)
            self._failed(error)
            return
        if self._failing_since is not None:
            self._log.info("scheduler_answers_again", launcher=self._name)
        self._failing_since, self._is_limited = None, False
        self._crashes.end()
        self._crashed.clear()
        changed = self._deliver(found)
        self._delay_s = self._traits.shortest_poll_s
        if not changed:
            self._delay_s = min(longer_s, self._traits.longest_poll_s)

    def _deliver(self, found: Mapping[str, Outcome]) -> bool:
        """Tell followers what is new to them; whether anything was."""
        changed = False
        for handle, said in found.items():
            job = self._followed.get(handle)
            if job is None:
                continue
            outcome = self._given_up(job, said) or said
            if job.is_news(outcome):
                job.said = outcome
                job.outcomes.put_nowait(outcome)
                changed = True
        return changed

    def _given_up(self, job: _Followed, said: Outcome) -> Outcome | None:
        """The last outcome of a job that waits or runs for too long; None: it goes on."""
        now = time.monotonic()
        if said.state is not JobState.RUNNING:
            job.running_since = None
        elif job.running_since is None:
            job.running_since = now
        if said.state is JobState.WAITING and now >= job.wait_until:
            reason = f"it hasn't begun within {wait_text(self._traits.wait_s)}"
            if said.reason:
                reason += f": {said.reason}"
        elif job.running_since is not None and now - job.running_since >= job.longest_s:
            longest = wait_text(job.longest_s)
            reason = f"it ran for more than {longest} and had no result: does its node hang?"
        else:
            return None
        return Outcome(JobState.LOST, reason=reason, fault=Fault.SCHEDULER)

    def _rest(self, error: RateLimited) -> None:
        """Until the limit ends, however long that is: the scheduler isn't silent."""
        if not self._is_limited:
            self._log.warning("requests_limited", launcher=self._name, error=str(error))
        self._failing_since, self._is_limited = None, True
        self._delay_s = min(error.for_s, _LONGEST_REST_S) * random.uniform(1.0, 1.1)

    def _failed(self, error: Exception) -> None:
        """Patience first: a controller that is started again knows its jobs. Then they are lost."""
        self._is_limited = False
        reason = self._crashes.tell(error)
        if is_crash(error):
            self._crashed = [*self._crashed, reason][-_CRASHES:]
        if self._failing_since is None:
            self._failing_since = time.monotonic()
            self._log.warning("scheduler_fails", launcher=self._name, error=reason)
        if time.monotonic() - self._failing_since < self._traits.silence_s:
            return
        self._log.error("jobs_given_up", launcher=self._name, jobs=len(self._open()), error=reason)
        fault = error.fault if isinstance(error, SchedulerError) else Fault.PLATFORM
        lost = Outcome(JobState.LOST, reason=reason, fault=fault)
        self._deliver(dict.fromkeys(self._open(), lost))
