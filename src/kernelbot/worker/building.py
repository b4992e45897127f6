"""Has the files of a run compiled before its launcher is asked, on a device that needs no GPU.

A build step is a job like others: its handle is stored, whoever takes its run over goes on with it,
and one that is lost is tried again. If none succeeds, the run is launched as it is: whoever judges
it compiles. What must be built for several runs is built for the first one, and the others wait.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import structlog

from kernelbot.domain.errors import KernelbotError, Unavailable
from kernelbot.launchers.base import Launcher, Outcome
from kernelbot.launchers.results import NoResult
from kernelbot.preflight.build_steps import report_of_build_step
from kernelbot.preflight.model import PreflightReport
from kernelbot.protocol import EventKind, JobSpec, Product, ProgressEvent, RunResult, Verdict
from kernelbot.protocol.building import Side, build_job, build_key, has_build_step, job_of, step_id
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.result_size import most_bytes
from kernelbot.runs.builds.service import Begun, BuildRequest, Builds, Built, build_of
from kernelbot.runs.claims import Claim
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.worker.checking import Checks
from kernelbot.worker.idle import IdleTime
from kernelbot.worker.launching import launch_whole
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.retries import jittered, until_available
from kernelbot.worker.slots import DeviceSlots
from kernelbot.worker.unended import UnendedJobs
from kernelbot.worker.watching import Watcher

MAX_TRIES = 3
_ASK_AGAIN_S = 0.5
"""Between two looks at what another run has built."""
log = structlog.get_logger()


@dataclass(frozen=True)
class Workshop:
    """Where a device's files are built: a device, with how it is reached. `image`: names what its
    machines and those of the other device have installed, see `build_key`."""

    builds: Builds
    judging: RunLifecycle
    reader: ResultReader
    device: DeviceConfig
    image: str
    launchers: Mapping[str, Launcher]
    watchers: Mapping[str, Watcher]
    unended: Mapping[str, UnendedJobs]
    checks: Checks
    slots: DeviceSlots
    idle: IdleTime

    @property
    def name(self) -> str:
        """The device's."""
        return self.device.spec.name


@dataclass(frozen=True)
class Prepared:
    """What a run's launcher is given; or, if the run has ended because something of it doesn't
    compile, `refused`."""

    spec: JobSpec
    took_s: float
    refused: RunResult | None = None


@dataclass(frozen=True)
class _EndedBuild:
    """How building one side's file has ended. `refused`: the result that says why it can't be."""

    built: Built
    refused: RunResult | None = None


class Builder:
    """Builds for one run: `claim`, which `owner` follows. `on_cancel` is called, perhaps again,
    when the building is cancelled and only its traces are left to be removed."""

    def __init__(
        self, workshop: Workshop, claim: Claim, owner: str, on_cancel: Callable[[], None]
    ) -> None:
        self._builds = workshop.builds
        self._judging = workshop.judging
        self._reader = workshop.reader
        self._shop = workshop
        self._claim = claim
        self._owner = owner
        self._on_cancel = on_cancel
        self._told = False
        self._log = log.bind(run=claim.run_id, attempt=claim.spec.job_id)

    async def prepare(self) -> Prepared:
        """Cancelled: the job is stopped, unless somebody will go on with it."""
        start, spec = time.monotonic(), self._claim.spec
        products: dict[Side, Product | None] = {}
        sides = (Side.SUBMISSION,) if spec.opponent is None else (Side.SUBMISSION, Side.OPPONENT)
        for side in sides:
            if not has_build_step(job_of(spec, side)):
                continue
            found = await self._built(side)
            report = found.built.report
            if report is not None and side is Side.SUBMISSION:
                await self._report(report)
            if found.refused is not None:
                refused = _as_of_run(found.refused, spec, side)
                return Prepared(spec, time.monotonic() - start, refused)
            products[side] = found.built.product
        spec = replace(
            spec,
            product=products.get(Side.SUBMISSION),
            opponent_product=products.get(Side.OPPONENT),
        )
        return Prepared(spec, time.monotonic() - start)

    async def _report(self, report: PreflightReport) -> None:
        """The submission's author reads it before the run has a GPU."""
        claim, owner = self._claim, self._owner
        await until_available(lambda: self._builds.tell(claim, owner, report))

    async def _built(self, side: Side) -> _EndedBuild:
        """What a side's file was built into, or why it can't be."""
        job = job_of(self._claim.spec, side)
        key = await asyncio.to_thread(build_key, job, self._shop.name, self._shop.image)
        build = build_of(job, key, self._claim.attempt_id)
        while True:
            found = await until_available(lambda: self._builds.take(build))
            if isinstance(found, Built):
                return _EndedBuild(found)
            await self._tell(ProgressEvent(EventKind.COMPILING))
            if isinstance(found, Begun):
                return await self._made(side, build, found)
            await asyncio.sleep(jittered(_ASK_AGAIN_S))

    async def _made(self, side: Side, build: BuildRequest, begun: Begun) -> _EndedBuild:
        """Have the build made: it is this worker's to make."""
        job = job_of(self._claim.spec, side)
        for tries in range(begun.tries, MAX_TRIES):
            result = await self._tried(side, build, begun if tries == begun.tries else Begun(tries))
            if result is None:
                continue
            report = await asyncio.to_thread(report_of_build_step, job, result)
            if result.verdict is Verdict.ACCEPTED:
                built = Built(result.product, report)
                await self._keep(build, built)
                return _EndedBuild(built)
            await until_available(lambda: self._builds.drop(build))
            if result.verdict is not Verdict.INTERNAL_ERROR:
                return _EndedBuild(Built(None, report), result)
            self._log.warning("not_built", reason=result.failure and result.failure.message)
            return _EndedBuild(Built(None))
        await until_available(lambda: self._builds.drop(build))
        return _EndedBuild(Built(None))

    async def _keep(self, build: BuildRequest, built: Built) -> None:
        await until_available(lambda: self._builds.keep(build, built))

    async def _tried(self, side: Side, build: BuildRequest, begun: Begun) -> RunResult | None:
        """The result of one job; None: it is lost."""
        usable = self._shop.checks.available(self._shop.device)
        name = begun.launcher or next(iter(usable), None)
        if name is None or name not in self._shop.launchers:
            self._log.warning("not_built", reason="no launcher of the builder is available")
            return None
        job_id = step_id(self._claim.spec.job_id, side, begun.tries)
        step = build_job(job_of(self._claim.spec, side), job_id, self._shop.name)
        shop = self._shop
        launcher, watcher, unended = shop.launchers[name], shop.watchers[name], shop.unended[name]
        job = _BuildJob(self, launcher, watcher, unended, step, build)
        here = contextlib.nullcontext() if job.is_remote else self._shop.idle.at_work()
        async with self._shop.slots.hold(alone=False):
            with here:
                return await job.seen_through(replace(begun, launcher=name))

    async def _tell(self, event: ProgressEvent) -> None:
        """Tell those who follow the run that it is compiled at all, once."""
        if event.kind is EventKind.COMPILING:
            if self._told:
                return
            self._told = True
        claim, owner = self._claim, self._owner
        await until_available(lambda: self._judging.progressed(claim, owner, [event]))

    async def notify(self, event: ProgressEvent) -> None:
        """A build step has told this: of all that, only how long it took matters."""
        if event.kind is EventKind.COMPILED and event.verdict is Verdict.ACCEPTED:
            await self._tell(event)

    async def stored(self, build: BuildRequest, begun: Begun) -> bool:
        """Whether the job that was launched is still ours to follow."""
        return await until_available(lambda: self._builds.launched(build, begun))

    async def read(self, outcome: Outcome, step: JobSpec) -> RunResult | None:
        """What a job has left; None: nothing that can be believed."""
        if outcome.left is None:
            self._log.warning("build_lost", reason=outcome.reason)
            return None
        try:
            return await self._reader.read(outcome.left, step, step.longest_s)
        except NoResult as error:
            self._log.error("build_refused", reason=str(error))
            return None

    async def let_go(self, job: "_BuildJob", build: BuildRequest) -> None:
        """Stop the job and forget the build, unless the job runs elsewhere, and the run is open:
        then somebody goes on with both. Waits for no database, as nothing interrupts this."""
        if job.is_remote and await self._is_open():
            return
        await job.end()
        with contextlib.suppress(Unavailable):  # then who needs it takes it over
            await self._builds.drop(build)

    async def _is_open(self) -> bool:
        try:
            return await self._judging.is_open(self._claim)
        except Unavailable:
            return True  # if it isn't, a job is left whose result nobody takes

    def cancelled(self) -> None:
        """Only traces are left to be removed."""
        self._on_cancel()


class _BuildJob:
    """One job of a build step."""

    def __init__(
        self,
        builder: Builder,
        launcher: Launcher,
        watcher: Watcher,
        unended: UnendedJobs,
        step: JobSpec,
        build: BuildRequest,
    ) -> None:
        self._builder = builder
        self._launcher = launcher
        self._watcher = watcher
        self._unended = unended
        self._step = step
        self._build = build
        self._handle: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether it is compiled on another machine."""
        return self._launcher.traits.remote

    async def seen_through(self, begun: Begun) -> RunResult | None:
        """The job's result; None: it is lost."""
        try:
            outcome = await self._executed(begun)
            result = None if outcome is None else await self._builder.read(outcome, self._step)
        except (KernelbotError, OSError) as error:
            log.warning("build_failed", job=self._step.job_id, error=in_words(error))
            result = None
        except asyncio.CancelledError:
            self._builder.cancelled()
            await asyncio.shield(self._builder.let_go(self, self._build))
            raise
        if result is None:
            await self.end()
        elif self._handle is not None:
            with contextlib.suppress(KernelbotError, OSError):
                await self._launcher.forget(self._handle)
        return result

    async def end(self) -> None:
        """Stop the job and have it forgotten; later, if that can't be done now, or if it is still
        to be found whether there is one."""
        if self._handle is not None:
            await self._unended.end(self._handle)
        elif self.is_remote:
            self._unended.seek(self._step.job_id)

    async def _executed(self, begun: Begun) -> Outcome | None:
        self._handle = begun.handle
        if self._handle is None:
            self._know(
                await launch_whole(self._launcher, self._step, self._builder.cancelled, self._know)
            )
            if not await self._builder.stored(self._build, replace(begun, handle=self._handle)):
                return None
        assert self._handle is not None, "a launch answers with one"
        async for events in self._launcher.events(self._handle):
            for event in events:
                await self._builder.notify(event)
        step = self._step
        changes = self._watcher.changes(self._handle, most_bytes(step), longest_s=step.longest_s)
        async for outcome in changes:
            for event in outcome.events:
                await self._builder.notify(event)
            if outcome.state.is_over:
                return outcome
        return None

    def _know(self, handle: str) -> None:
        self._handle = handle


def _as_of_run(result: RunResult, job: JobSpec, side: Side) -> RunResult:
    """A build step's refusal as the run's own: what its author is shown is what a compiler said. Of
    an opponent's, nothing is."""
    opposed = side is Side.OPPONENT
    return replace(
        result,
        job_id=job.job_id,
        mode=job.mode,
        compile=None if opposed else result.compile,
        opponent_failed=opposed,
        product=None,
    )
