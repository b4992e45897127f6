"""The launcher: what `Launcher` promises, in calls of deployed functions."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.launchers.fitting import must_end_within
from kernelbot.launchers.links import Links, valid_s
from kernelbot.launchers.modal.answers import read_answer
from kernelbot.launchers.modal.calls import Arguments, CallEntry, Calls, CallStage
from kernelbot.launchers.modal.settings import ModalDevice, ModalSettings
from kernelbot.launchers.patience import WAITING, Patience
from kernelbot.launchers.results import lost, no_events, size_of
from kernelbot.protocol import Fault, JobSpec, ProgressEvent, encode_payload

_HANDLE = re.compile(r"(fc-[A-Za-z0-9]{1,80}):([A-Za-z0-9][A-Za-z0-9.-]{0,63})")
_JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")
_ASKED_UNFINISHED = 8
"""How many of the calls whose functions haven't said that they are done are asked for each time, in
turn: a container that was killed says nothing."""
_AT_ONCE = 16
"""So many answers are fetched; each may be large."""
_REMEMBERED = 256
"""So many handles are known of jobs that were forgotten: nobody should ask about them."""
_UNREAD = "unread"
"""What may be amiss with a call: Modal can't say what became of it."""
_STRANGE = lost("its handle is none of Modal's")
_FORGOTTEN = lost("Modal doesn't know it any more", Fault.SCHEDULER)
_STATES = {
    CallStage.SPAWNED: JobState.WAITING,
    CallStage.BEGUN: JobState.RUNNING,
    CallStage.DONE: JobState.RUNNING,
}


@dataclass(frozen=True)
class _CallHandle:
    call_id: str
    attempt: str

    @classmethod
    def parse(cls, handle: str) -> "_CallHandle | None":
        found = _HANDLE.fullmatch(handle)
        return cls(found[1], found[2]) if found else None

    @property
    def handle(self) -> str:
        return f"{self.call_id}:{self.attempt}"


class ModalLauncher:
    """Implements `Launcher`. `links`: for containers that can reach this platform, so that progress
    is live; None: they can't."""

    def __init__(self, settings: ModalSettings, calls: Calls, links: Links | None = None) -> None:
        self._settings = settings
        self._calls = calls
        self._links = links
        self._turns: dict[str, int] = {}
        """Handles of calls that have said nothing, by when they were asked for last."""
        self._polls = 0
        self._patience = Patience()
        self._forgotten: deque[str] = deque(maxlen=_REMEMBERED)
        """Handles whose entries were removed here; Modal still knows their calls."""
        self._fetching = asyncio.Semaphore(_AT_ONCE)

    @property
    def traits(self) -> Traits:
        return self._settings.traits

    async def start(self) -> None:
        await self._calls.prepare()

    async def close(self) -> None:
        """Nothing of ours runs between two requests."""

    async def launch(self, spec: JobSpec) -> str:
        """Look for the attempt's call in the Dict, and spawn one if there is none. If another was
        written down meanwhile, that is the one, and this one is cancelled."""
        device = self._device(spec)
        if (entry := await self._calls.entry(spec.job_id)) is not None:
            return _CallHandle(entry.call_id, spec.job_id).handle
        payload = await asyncio.to_thread(encode_payload, spec)
        call_id = await self._calls.spawn(device.function, self._arguments(spec, payload))
        if not await self._calls.keep(spec.job_id, call_id):
            entry = await self._calls.entry(spec.job_id)
            if entry is not None and entry.call_id != call_id:
                await self._cancel(call_id)
                call_id = entry.call_id
        handle = _CallHandle(call_id, spec.job_id).handle
        if _CallHandle.parse(handle) is None:
            raise SchedulerError(f"Modal answered {call_id[:80]!r} instead of a call's id.")
        self._patience.told(handle, WAITING)
        return handle

    async def find(self, job_id: str) -> str | None:
        """Look for the attempt's call in the Dict, which its function writes there as well when it
        begins. Before that Modal can't tell whose call it is."""
        entry = await self._calls.entry(job_id)
        return None if entry is None else _CallHandle(entry.call_id, job_id).handle

    def _device(self, spec: JobSpec) -> ModalDevice:
        if not _JOB_ID.fullmatch(spec.job_id):
            raise PlatformError(f"{spec.job_id[:80]!r} can't name a job.")
        device = self._settings.devices.get(spec.device.name)
        if device is None:
            raise PlatformError(f"This launcher for Modal has no device {spec.device.name!r}.")
        must_end_within(
            self._settings.function_timeout_s,
            spec,
            self._settings.slack_s,
            what="Modal's function",
            hint="Deploy it with a longer time-out",
        )
        return device

    def _arguments(self, spec: JobSpec, payload: str) -> Arguments:
        """An app that was deployed before its containers' hosts could stay takes four."""
        settings = self._settings
        plain = (spec.job_id, payload, self._events_url(spec), settings.no_sandbox_ok)
        if not settings.warm_idle_s:
            return plain
        return (*plain, settings.warm_idle_s, settings.warm_limit_s)

    def _events_url(self, spec: JobSpec) -> str:
        if self._links is None:
            return ""
        link_s = valid_s(self.traits.wait_s, self._settings.function_timeout_s)
        return self._links.for_job(spec.job_id, link_s).events_url

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None from here: the container tells the platform itself."""
        return no_events()

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """The Dict for all of them, then what the finished ones returned."""
        entries = await self._calls.entries()
        jobs = {handle: _CallHandle.parse(handle) for handle in handles}
        outcomes = {
            handle: _STRANGE if job is None else self._seen(job, entries)
            for handle, job in jobs.items()
        }
        open_jobs = [job for h, job in jobs.items() if job and not outcomes[h].state.is_over]
        asked = self._asked(open_jobs, entries)
        found = await asyncio.gather(
            *(self._outcome(job, size_of(job.handle, most_bytes)) for job in asked)
        )
        news = {job.handle: outcome for job, outcome in zip(asked, found, strict=True) if outcome}
        return {**outcomes, **news}

    def _seen(self, job: _CallHandle, entries: Mapping[str, CallEntry]) -> Outcome:
        """What the Dict says. One that was lost says nothing of its calls: they are asked."""
        entry = entries.get(job.attempt)
        if entry is None and job.handle not in self._forgotten:
            return self._patience.still(job.handle)
        if entry is None or entry.call_id != job.call_id:
            return _FORGOTTEN
        return self._patience.told(job.handle, Outcome(_STATES[entry.stage]))

    def _asked(
        self, jobs: list[_CallHandle], entries: Mapping[str, CallEntry]
    ) -> list[_CallHandle]:
        """The calls that say that they are done, and some of the others in turn."""
        self._polls += 1
        said = {attempt for attempt, entry in entries.items() if entry.stage is CallStage.DONE}
        done = [job for job in jobs if job.attempt in said]
        unfinished = [job for job in jobs if job.attempt not in said]
        unfinished.sort(key=lambda job: self._turns.get(job.handle, 0))
        for job in unfinished[:_ASKED_UNFINISHED]:
            self._turns[job.handle] = self._polls
        return done + unfinished[:_ASKED_UNFINISHED]

    async def _outcome(self, job: _CallHandle, most: int) -> Outcome | None:
        """None: it goes on, or can't be asked about just now."""
        try:
            async with self._fetching:
                over = await self._calls.outcome(job.call_id)
        except SchedulerError as error:
            outcome = self._patience.failing(job.handle, _UNREAD, error, self.traits.silence_s)
            return outcome if outcome.state.is_over else None
        self._patience.over(job.handle, _UNREAD)
        if over is None:
            return None
        if over.reason:
            return lost(over.reason, over.fault)
        return read_answer(over.answer, most)

    async def cancel(self, handle: str) -> None:
        """The call. Its container goes on if a host stays in it for the next."""
        if (job := _CallHandle.parse(handle)) is not None:
            await self._cancel(job.call_id)

    async def _cancel(self, call_id: str) -> None:
        await self._calls.cancel(call_id, with_container=not self._settings.warm_idle_s)

    async def forget(self, handle: str) -> None:
        """Remove the attempt from the Dict. What the call returned Modal keeps for a week."""
        if (job := _CallHandle.parse(handle)) is None:
            return
        self._turns.pop(handle, None)
        self._patience.forget(handle)
        self._forgotten.append(handle)
        await self._calls.remove(job.attempt)

    async def availability(self, device: str) -> Availability:
        """Whether the device's function is deployed."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this launcher for Modal has no device {device!r}")
        why_not = await self._calls.stats(wanted.function)
        return Availability(why_not is None, why_not or "")
