"""What launchers do alike whose scheduler has a REST API with a list of jobs."""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import Generic

import structlog
from cachetools import FIFOCache

from kernelbot.domain.errors import (
    DeviceRefused,
    JobRefused,
    KernelbotError,
    NoRoom,
    PlatformError,
    RateLimited,
    SchedulerError,
)
from kernelbot.launchers.base import NO_SIZES, JobState, Outcome, Traits
from kernelbot.launchers.handles import Handle, check_job_id, job_name
from kernelbot.launchers.patience import RUNNING, WAITING, Patience
from kernelbot.launchers.rest.api import RestApi
from kernelbot.launchers.rest.listing import JobFinder, L
from kernelbot.launchers.results import lost, no_events, size_of
from kernelbot.protocol import Fault, JobSpec, ProgressEvent

_ONE_BY_ONE = 50
"""Jobs asked for singly, of those that the list doesn't show, in one poll."""
_LEAST_AT_ONCE = 2
"""So many of these, and so many results, even if each request waits for its turn."""
_REQUESTS_FOR_A_RESULT = 2
_LOOK_S = 0.25
_POLL_S = 1.0
_REMEMBERED = 1000
_UNREAD, _UNKNOWN, _UNNAMED = "unread", "unknown", "unnamed"
_MISSING, _FAILING = "missing", "failing"
"""What may be amiss: a job can't be read, isn't there, or has another name, as one may that was
only just made; its result isn't there, or can't be had."""
log = structlog.get_logger()


@dataclass(frozen=True)
class RestRules:
    """What is waited for, and for how long."""

    traits: Traits
    settle_s: float
    """How long a new job, or the result of one that has ended, may take to show."""
    appear_s: float
    """How long a launch waits for a job to show of which the scheduler's answer was lost. Until
    `settle_s` none is made instead."""


class RestLauncher(ABC, Generic[L]):
    """What each method promises, `Launcher` says. `scheduler`: its name, for people; `devices`:
    those that it has."""

    def __init__(
        self,
        scheduler: str,
        devices: Collection[str],
        rules: RestRules,
        jobs: JobFinder[L],
        api: RestApi,
    ) -> None:
        self._scheduler = scheduler
        self._devices = devices
        self._rules = rules
        self._jobs = jobs
        self._rest = api
        self._accepted: set[str] = set()
        """Attempts that the scheduler has accepted without telling their jobs' numbers."""
        self._unanswered = FIFOCache[str, tuple[float, SchedulerError]](_REMEMBERED)
        """Attempts of whose creation no answer came that says anything, and when that was: their
        jobs may show yet."""
        self._ended_others = FIFOCache[str, None](_REMEMBERED)
        """Numbers of second jobs of attempts, which were ended."""
        self._patience = Patience()
        self._unread: dict[str, KernelbotError] = {}
        """Why jobs couldn't be read when they were asked for last, by their numbers."""
        self._turns: dict[str, int] = {}
        """Numbers of jobs that the list doesn't show, by the poll that asked for them last."""
        self._polls = 0
        self._look_at: dict[str, float] = {}
        """When jobs that have ended without a result are looked at again."""

    @abstractmethod
    async def _create(self, spec: JobSpec) -> int | None:
        """Make a job of the attempt's name; its number, if the scheduler tells it."""

    @abstractmethod
    async def _show(self, number: str) -> L | None:
        """One job; None: there is none of this number."""

    @abstractmethod
    async def _end(self, handle: Handle, job: L, most: int) -> Outcome | None:
        """The outcome of a job that has ended, whose result has so many bytes at most; None: it
        doesn't show, and may yet."""

    @abstractmethod
    async def _why_no_result(self, job: L) -> Outcome:
        """The outcome of a job that has ended, and whose result won't show any more."""

    @property
    def traits(self) -> Traits:
        return self._rules.traits

    async def close(self) -> None:
        await self._rest.close()

    async def start(self) -> None:
        """Nothing: whether the scheduler can be reached is told by `availability`."""

    async def launch(self, spec: JobSpec) -> str:
        """Look for a job of the attempt's name, and make one if there is none."""
        attempt = check_job_id(spec.job_id)
        if spec.device.name not in self._devices:
            raise PlatformError(f"This launcher has no device {spec.device.name!r}.")
        number = await self._jobs.number_of(job_name(attempt))
        is_new = number is None
        if number is None and self._may_create(attempt):
            number = await self._try_to_create(spec)
        if number is None:
            number = await self._appearing(attempt)
        if number is None:
            raise self._why_no_number(attempt)
        self._accepted.discard(attempt)
        self._unanswered.pop(attempt, None)
        if is_new:
            self._patience.told(str(number), WAITING)
        return str(Handle(str(number), attempt))

    def _may_create(self, attempt: str) -> bool:
        """Whether there is no job of the attempt's that only doesn't show yet."""
        asked_at, _ = self._unanswered.get(attempt, (-math.inf, None))
        has_settled = time.monotonic() - asked_at >= self._rules.settle_s
        return has_settled and attempt not in self._accepted

    def _why_no_number(self, attempt: str) -> SchedulerError:
        if attempt in self._unanswered:
            return SchedulerError(str(self._unanswered[attempt][1]))
        return SchedulerError(f"{self._scheduler} has accepted the job, and doesn't show it.")

    async def find(self, job_id: str) -> str | None:
        """Look for a job of the attempt's name."""
        number = await self._jobs.number_of(job_name(check_job_id(job_id)))
        return None if number is None else str(Handle(str(number), job_id))

    async def _try_to_create(self, spec: JobSpec) -> int | None:
        """None: there is one whose number isn't told, or after a failure there may be one."""
        try:
            number = await self._create(spec)
        except (JobRefused, DeviceRefused, NoRoom):
            raise
        except SchedulerError as error:
            self._unanswered[spec.job_id] = (time.monotonic(), error)
            return None
        self._unanswered.pop(spec.job_id, None)
        if number is None:
            self._accepted.add(spec.job_id)
        return number

    async def _appearing(self, attempt: str) -> int | None:
        """The number of the attempt's job, as soon as it shows; None: it doesn't."""
        ends_at = time.monotonic() + self._rules.appear_s
        while True:
            try:
                number = await self._jobs.number_of(job_name(attempt))
            except RateLimited as error:  # which would say that there is no job
                raise SchedulerError(str(error)) from None
            if number is not None or time.monotonic() >= ends_at:
                return number
            await asyncio.sleep(min(_POLL_S, self._rules.appear_s / 8))

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None this way: nodes that reach us send theirs."""
        return no_events()

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """The list, as far as the jobs reach back; then the results of those that have ended, as
        many as there are requests to spare: the others are running until the next poll."""
        known = {text: handle for text in handles if (handle := Handle.parse(text))}
        shown, missing = await self._jobs.states({int(h.number) for h in known.values()})
        await asyncio.gather(*map(self._end_others, known.values()))
        singly = await asyncio.gather(*map(self._one, self._some_of(missing)))
        jobs: dict[str, L | None] = {str(number): job for number, job in shown.items()}
        for each in singly:
            jobs.update(each)
        ended = [text for text, h in known.items() if self._may_have_a_result(h, jobs)]
        asked = {text: size_of(text, most_bytes) for text in ended[: self._at_once(len(ended))]}
        outcomes = await asyncio.gather(
            *(self._outcome(h, jobs, asked.get(text)) for text, h in known.items())
        )
        found = dict(zip(known, outcomes, strict=True))
        strange = lost(f"its handle is none of {self._scheduler}'s")
        return {handle: found.get(handle, strange) for handle in handles}

    async def _end_others(self, handle: Handle) -> None:
        """End further jobs of the attempt: the answer to a creation was lost, and its job shows
        after another was made. Nobody else knows it, and it would judge for nobody."""
        for number in map(str, self._jobs.others(job_name(handle.attempt), int(handle.number))):
            if number in self._ended_others:
                continue
            other = str(Handle(number, handle.attempt))
            try:
                await self.cancel(other)
                await self.forget(other)
            except KernelbotError as error:
                log.warning("second_job_not_ended", handle=other, error=str(error))
                continue
            self._ended_others[number] = None
            log.warning("second_job_ended", handle=other, first=str(handle))

    @abstractmethod
    async def cancel(self, handle: str) -> None: ...

    @abstractmethod
    async def forget(self, handle: str) -> None: ...

    def _at_once(self, wanted: int) -> int:
        """For how many of them requests are to be made now."""
        spare = min(self._rest.spare() / _REQUESTS_FOR_A_RESULT, wanted)
        return max(int(spare), _LEAST_AT_ONCE)

    def _some_of(self, missing: set[int]) -> list[str]:
        """The handles that were asked for longest ago."""
        self._polls += 1
        numbers = sorted(map(str, missing), key=lambda number: self._turns.get(number, 0))
        chosen = numbers[: min(self._at_once(len(numbers)), _ONE_BY_ONE)]
        self._turns.update(dict.fromkeys(chosen, self._polls))
        return chosen

    async def _one(self, number: str) -> dict[str, L | None]:
        """The job by its number; empty if it can't be read, which says nothing of the others."""
        try:
            return {number: await self._show(number)}
        except RateLimited:
            self._unread.pop(number, None)
            self._patience.over(number, _UNREAD)
            return {}
        except KernelbotError as error:
            self._unread[number] = error
            return {}

    def _may_have_a_result(self, handle: Handle, jobs: dict[str, L | None]) -> bool:
        """Whether it is to be looked at now: rarer, the longer there is none."""
        job = jobs.get(handle.number)
        ended = job is not None and job.state is None
        return ended and time.monotonic() >= self._look_at.get(handle.number, 0.0)

    async def _outcome(
        self, handle: Handle, jobs: dict[str, L | None], most: int | None
    ) -> Outcome:
        """`most`: how large the result may be that is fetched now; None: none is."""
        if handle.number not in jobs:
            return self._not_read(handle)
        self._unread.pop(handle.number, None)
        self._patience.over(handle.number, _UNREAD)
        job = jobs[handle.number]
        if job is None:
            if not self._is_final(handle, _UNKNOWN):
                return self._patience.still(handle.number)
            return lost(f"{self._scheduler} doesn't know it any more", Fault.SCHEDULER)
        self._patience.over(handle.number, _UNKNOWN)
        if job.name != job_name(handle.attempt):
            if self._is_final(handle, _UNNAMED):
                return lost(f"number {handle.number} at {self._scheduler} isn't this job's")
            return self._told(handle, job.state)
        self._patience.over(handle.number, _UNNAMED)
        if job.state is not None:
            self._patience.over(handle.number, _MISSING, _FAILING)
            return self._told(handle, job.state)
        self._told(handle, JobState.RUNNING)  # it has begun, whatever can be had of its end
        return RUNNING if most is None else await self._result(handle, job, most)

    def _told(self, handle: Handle, state: JobState | None) -> Outcome:
        """None: it has ended."""
        return self._patience.told(handle.number, Outcome(state or JobState.RUNNING))

    def _not_read(self, handle: Handle) -> Outcome:
        """The outcome of a job that wasn't asked for or can't be read: it is asked for again."""
        error = self._unread.get(handle.number)
        if error is None:
            return self._patience.still(handle.number)
        return self._patience.failing(handle.number, _UNREAD, error, self.traits.silence_s)

    async def _result(self, handle: Handle, job: L, most: int) -> Outcome:
        try:
            if outcome := await self._end(handle, job, most):
                return outcome
            if self._is_final(handle, _MISSING):
                return await self._why_no_result(job)
            self._patience.over(handle.number, _FAILING)
            missing_s = self._patience.since(handle.number, _MISSING)
            self._look_at[handle.number] = time.monotonic() + max(missing_s / 2, _LOOK_S)
            return RUNNING
        except KernelbotError as error:
            return self._patience.failing(handle.number, _FAILING, error, self.traits.silence_s)

    def _is_final(self, handle: Handle, trouble: str) -> bool:
        """Whether what doesn't show now won't."""
        return self._patience.since(handle.number, trouble) >= self._rules.settle_s

    def _forget(self, handle: Handle) -> None:
        self._patience.forget(handle.number)
        self._unread.pop(handle.number, None)
        self._turns.pop(handle.number, None)
        self._look_at.pop(handle.number, None)
        self._jobs.forget(job_name(handle.attempt))
