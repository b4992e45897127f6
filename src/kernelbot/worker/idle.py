"""Compiles what waits for GPUs while this machine judges nothing, so that authors read what
compilers say. No run has anything of it, or waits for it: whoever judges or builds here ends it."""

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import structlog

from kernelbot.domain.errors import KernelbotError, Unavailable
from kernelbot.launchers.base import Launcher, Outcome
from kernelbot.launchers.results import NoResult
from kernelbot.preflight.build_steps import report_of_build_step
from kernelbot.preflight.model import PreflightOutcome, PreflightReport
from kernelbot.protocol import JobSpec, RunResult, Verdict
from kernelbot.protocol.building import build_job
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.result_size import most_bytes
from kernelbot.runs.builds.reports import IdleReports, UnreportedRun
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.worker.checking import Checks
from kernelbot.worker.launching import launch_whole
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.retries import jittered, until_available
from kernelbot.worker.watching import Watcher

_POLL_S = 1.0
"""Between two looks at what waits."""
_MOST_SEEN = 500
"""So many runs are remembered before it is asked which of them have ended."""
_MOST_TRIES = 3
"""So often a run's compiling is begun, and ended for the sake of others."""
_GLANCE_S = 0.2
"""Between two looks whether somebody measures."""
log = structlog.get_logger()


class IdleTime:
    """When this machine judges and builds nothing for a run."""

    def __init__(self) -> None:
        self._jobs = 0
        self._lent: set[asyncio.Event] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """A job of a run is here while the block runs, and whoever was lent the time is told."""
        self._jobs += 1
        self._idle.clear()
        for wanted in self._lent:
            wanted.set()
        try:
            yield
        finally:
            self._jobs -= 1
            if not self._jobs:
                self._idle.set()

    @contextlib.asynccontextmanager
    async def lend(self) -> AsyncIterator[asyncio.Event]:
        """Wait until no job of a run is here. Leave the block as soon as the event is set: nobody
        waits for that."""
        while self._jobs:  # the next one may come in the moment in which the last has ended
            await self._idle.wait()
        wanted = asyncio.Event()
        self._lent.add(wanted)
        try:
            yield wanted
        finally:
            self._lent.discard(wanted)


@dataclass(frozen=True)
class IdlePlace:
    """Where there is idle time: a device of this machine, with how it is reached."""

    device: DeviceConfig
    name: str
    """The launcher's."""
    launcher: Launcher
    watcher: Watcher
    reader: ResultReader
    checks: Checks
    is_measured: Callable[[], bool]
    """Whether somebody measures on this machine now, in whatever process."""


class IdlePreflighter:
    """Makes reports one after the other. Runs are seen to in the order of their ids; one whose
    compiling came to no report isn't tried again by this worker. One that was ended for another's
    sake waits for all others, and is tried three times."""

    def __init__(self, reports: IdleReports, place: IdlePlace, idle: IdleTime) -> None:
        self._reports = reports
        self._place = place
        self._idle = idle
        self._seen: set[int] = set()
        """The runs that were seen to: not the last of them, since their ids aren't committed in
        their order. Now and then without those that have ended."""
        self._ended: Counter[int] = Counter()
        """How often a run's compiling was ended."""
        self._put_off: set[int] = set()
        """Runs that wait for all others."""

    async def run(self) -> None:
        """Never ends by itself."""
        while True:
            try:
                found = await self._see_to_next()
            except Unavailable:
                found = False
            if not found:
                await asyncio.sleep(jittered(_POLL_S))

    async def _see_to_next(self) -> bool:
        """Whether there may be more to do at once."""
        async with self._idle.lend() as wanted:
            if self._place.name not in self._place.checks.available(self._place.device):
                return False
            if self._place.is_measured():
                return False
            if len(self._seen) + len(self._ended) > _MOST_SEEN:
                await self._forget_closed()
            run = await self._next()
            if run is None:
                self._put_off.clear()
                return False
            if run.job is None:
                self._seen.add(run.run_id)
                return True
            job = run.job
            async with self._reports.alone() as is_alone:
                if not is_alone:
                    return False
                if await self._next() != run:  # another worker was quicker
                    return True
                if wanted.is_set() or self._place.is_measured():
                    return True
                unwanted = (wanted.wait(), self._until_measured())
                if await _done_unless(unwanted, self._compile(run, job)):
                    self._seen.add(run.run_id)
                else:
                    self._note_interruption(run.run_id)
                return True

    async def _next(self) -> UnreportedRun | None:
        return await self._reports.next(self._seen | self._put_off)

    def _note_interruption(self, run_id: int) -> None:
        self._ended[run_id] += 1
        if self._ended[run_id] < _MOST_TRIES:
            self._put_off.add(run_id)
        else:
            self._seen.add(run_id)

    async def _forget_closed(self) -> None:
        still_open = await self._reports.open_among({*self._seen, *self._ended})
        self._seen &= still_open
        self._ended = Counter({run: self._ended[run] for run in self._ended if run in still_open})

    async def _until_measured(self) -> None:
        while not self._place.is_measured():  # noqa: ASYNC110  # a turn is taken silently
            await asyncio.sleep(_GLANCE_S)

    async def _compile(self, run: UnreportedRun, job: JobSpec) -> None:
        device = self._place.device.spec.name
        step_id = f"{run.run_id}.p{uuid.uuid4().hex[:12]}"
        step = replace(build_job(job, step_id, device), report_only=True)
        try:
            result = await self._result(step)
            if result is None or result.verdict is Verdict.TIME_LIMIT:
                return  # the GPU's machine may be quicker
            report = await asyncio.to_thread(report_of_build_step, job, result)
            if report is not None and _says_anything(report):
                told = replace(report, compiled_on=device)
                await until_available(lambda: self._reports.tell(run, told))
        except (KernelbotError, OSError) as error:
            log.warning("preflight_failed", run=run.run_id, error=in_words(error))
        except Exception:  # whatever a stranger's compiler says, the worker goes on
            log.exception("preflight_crashed", run=run.run_id)

    async def _result(self, step: JobSpec) -> RunResult | None:
        """A job's result, of which nothing is left; None: it is lost."""
        handles: list[str] = []
        launcher = self._place.launcher
        try:
            handle = await launch_whole(launcher, step, lambda: None, handles.append)
            handles.append(handle)
            async for outcome in self._place.watcher.changes(handle, most_bytes(step)):
                if outcome.state.is_over:
                    return await self._read(outcome, step)
            return None
        finally:
            for handle in handles:
                await asyncio.shield(_remove(launcher, handle))

    async def _read(self, outcome: Outcome, step: JobSpec) -> RunResult | None:
        if outcome.left is None:
            log.warning("preflight_lost", job=step.job_id, reason=outcome.reason)
            return None
        try:
            return await self._place.reader.read(outcome.left, step, step.longest_s)
        except NoResult as error:
            log.error("preflight_refused", job=step.job_id, reason=str(error))
            return None


def _says_anything(report: PreflightReport) -> bool:
    """Not that something is missing here: the GPU's machine may have it."""
    return report.outcome is not PreflightOutcome.UNKNOWN or bool(report.kernels)


async def _done_unless(
    unwanted: Iterable[Coroutine[Any, Any, object]], step: Coroutine[Any, Any, None]
) -> bool:
    """Do the step, or end it once one of the others has ended; whether it was done."""
    work = asyncio.ensure_future(step)
    told = [asyncio.ensure_future(one) for one in unwanted]
    try:
        await asyncio.wait([work, *told], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (work, *told):
            one.cancel()
        await asyncio.wait([work])
    if work.cancelled():
        return False
    work.result()
    return True


async def _remove(launcher: Launcher, handle: str) -> None:
    with contextlib.suppress(KernelbotError, OSError):
        await launcher.cancel(handle)
        await launcher.forget(handle)
