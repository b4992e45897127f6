"""A scheduler in memory, and a launcher for it: what the worker sees of a remote one."""

import asyncio
import math
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import replace

from kernelbot.domain.errors import JobRefused, SchedulerError
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.protocol import JobSpec, ProgressEvent

TRAITS = Traits(shortest_poll_s=0.02, longest_poll_s=0.1, check_s=0.05, silence_s=60)


class FakeScheduler:
    """Outlives its launchers, as a scheduler outlives a worker."""

    def __init__(self) -> None:
        self.specs: dict[str, JobSpec] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.launches: list[str] = []
        self.cancelled: list[str] = []
        self.polls: list[int] = []
        """How many jobs each question was about."""
        self.down: str | None = None
        """Why it fails; None: it works."""
        self.fails_once: str | None = None
        """Why it fails the next time alone."""
        self.crash: Exception | None = None
        """What its launcher raises, by a mistake of its own."""
        self.hangs = False
        self.starts = 0
        """How often it was to get ready."""
        self.is_mute = False
        """It takes jobs, and what it answers gets lost."""
        self.is_late = False
        """It shows no job that it has taken, and so may be given it twice."""
        self.looks = 0
        """How often it was looked for a job."""
        self.longest_s = math.inf
        """It never takes a job that may take longer."""
        self.launch_s = 0.0
        """How long a launch takes; the job is there at its end."""
        self.launching = 0
        self.forgetting = 0
        self.may_forget = asyncio.Event()
        """Clear: it takes until it is set."""
        self.may_forget.set()
        self.live: tuple[tuple[ProgressEvent, ...], ...] = ()
        """What each job tells live, by batches."""
        self.may_tell = asyncio.Event()
        """Clear: a job tells nothing live until it is set, nor that there is nothing."""
        self.may_tell.set()

    def end(self, handle: str, outcome: Outcome) -> None:
        """What every question is answered with from now on."""
        self.outcomes[handle] = outcome

    async def answer(self) -> None:
        """Fail or hang as it was told to."""
        if self.hangs:
            await asyncio.sleep(3600)
        if self.crash is not None:
            raise self.crash
        if (reason := self.down or self.fails_once) is not None:
            self.fails_once = None
            raise SchedulerError(reason)


class FakeLauncher:
    """See `Launcher`. A handle is the job's id behind the launcher's name."""

    def __init__(
        self, scheduler: FakeScheduler, name: str = "far", traits: Traits = TRAITS
    ) -> None:
        self.scheduler = scheduler
        self.closed = False
        self._name = name
        self._traits = traits

    @property
    def traits(self) -> Traits:
        return self._traits

    async def start(self) -> None:
        self.scheduler.starts += 1
        await self.scheduler.answer()

    async def close(self) -> None:
        self.closed = True

    async def launch(self, spec: JobSpec) -> str:
        await self.scheduler.answer()
        if spec.longest_s > self.scheduler.longest_s:
            raise JobRefused(f"{spec.longest_s:.0f} s are too long")
        self.scheduler.launching += 1
        await asyncio.sleep(self.scheduler.launch_s)
        handle = f"{self._name}/{spec.job_id}"
        if handle not in self.scheduler.specs or self.scheduler.is_late:
            self.scheduler.launches.append(handle)
            self.scheduler.specs[handle] = spec
            self.scheduler.outcomes[handle] = Outcome(JobState.WAITING)
        if self.scheduler.is_mute:
            raise SchedulerError("no answer came")
        return handle

    async def find(self, job_id: str) -> str | None:
        await self.scheduler.answer()
        self.scheduler.looks += 1
        handle = f"{self._name}/{job_id}"
        is_shown = handle in self.scheduler.specs and not self.scheduler.is_late
        return handle if is_shown else None

    async def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:
        await self.scheduler.may_tell.wait()
        for batch in self.scheduler.live:
            yield batch

    async def poll(
        self,
        handles: Collection[str],
        most_bytes: Mapping[str, int] = NO_SIZES,
    ) -> dict[str, Outcome]:
        self.scheduler.polls.append(len(handles))
        await self.scheduler.answer()
        unknown = Outcome(JobState.LOST, reason="nobody knows it")
        found = {handle: self.scheduler.outcomes.get(handle, unknown) for handle in handles}
        for handle, outcome in found.items():
            if outcome.events:  # told once
                self.scheduler.outcomes[handle] = replace(outcome, events=())
        return found

    async def cancel(self, handle: str) -> None:
        await self.scheduler.answer()
        self.scheduler.cancelled.append(handle)

    async def forget(self, handle: str) -> None:
        self.scheduler.forgetting += 1
        await self.scheduler.may_forget.wait()
        await self.scheduler.answer()
        self.scheduler.specs.pop(handle, None)
        self.scheduler.outcomes.pop(handle, None)

    async def availability(self, device: str) -> Availability:
        await self.scheduler.answer()
        return Availability(True)
