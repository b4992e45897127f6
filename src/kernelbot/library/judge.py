"""Many sources, judged side by side."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kernelbot.catalog.problem import LoadedProblem
from kernelbot.domain.errors import InvalidSubmission, UserError
from kernelbot.library.baselines import (
    Baseline,
    BaselineLost,
    Baselines,
    baseline_of,
    baseline_source,
)
from kernelbot.library.data import OtherData
from kernelbot.library.ends import cancel, result_of
from kernelbot.library.feeding import reports_of
from kernelbot.library.once import Once
from kernelbot.library.opening import Opened, open_host
from kernelbot.library.reports import Report
from kernelbot.library.sources import (
    Problem,
    Problems,
    Source,
    expect_timed,
    mode_of,
    refused,
    source_file,
)
from kernelbot.protocol import DeviceSpec, Mode, SamplingRules, SourceFile, Verdict
from kernelbot.server.judge_once import no_result
from kernelbot.server.judging_settings import JudgingSettings
from kernelbot.server.run import expect_timeable

Pair = tuple[Problem, Source]


@dataclass(frozen=True)
class _Options:
    """How all sources of one call are judged."""

    mode: Mode
    device: DeviceSpec
    baseline: bool
    data: OtherData | None = None


class Judge:
    """Judges sources side by side, on this machine or a Ray cluster, in an `async with` block of
    one event loop.

    Tests run on all processors at once; whatever is timed takes turns on its device. A task that
    is cancelled ends its judging: the host kills its processes, and then the task ends.
    """

    def __init__(
        self,
        devices: str | Sequence[str] | None = None,
        *,
        slots: int | None = None,
        dedupe: bool = False,
        sampling: SamplingRules | None = None,
    ) -> None:
        """`devices`: those that may be asked for, the first by default; None: all that are
        configured; `ray://HOST:PORT`: those of a Ray cluster. `slots`: how many sources are judged
        at once; None: one for each processor, or as many as the cluster has room for.
        `dedupe`: judge identical sources once, and keep their reports for as long as this lives.
        `sampling`: how long workloads are timed; None: as configured.
        Raises `UserError` for slots that can't be."""
        self._names = (devices,) if isinstance(devices, str) else devices
        self._slots = slots
        if slots is not None and slots < 1:
            raise UserError("A judge needs one slot at least.")
        self._dedupe = dedupe
        self._sampling = sampling
        self._problems = Problems()
        self._baselines = Baselines()
        self._once = Once[Report](lambda report: report.verdict is not Verdict.INTERNAL_ERROR)
        self._running: set[asyncio.Task[Report]] = set()
        self._open: Opened | None = None

    async def __aenter__(self) -> Self:
        """Start the host, unless it is there, or connect to the cluster. Raises `UserError` if this
        is open already, or if the configuration is wrong or has no such device, and `Unavailable`
        if nothing can be judged."""
        if self._open is not None:
            raise UserError("This judge is open already.", hint="Make another one.")
        opened = await open_host(self._names, self._slots, len(os.sched_getaffinity(0)))
        if self._sampling is not None:
            opened = replace(opened, settings=replace(opened.settings, sampling=self._sampling))
        self._open = opened
        return self

    async def __aexit__(self, *_: object) -> None:
        """Whatever is still being judged is cancelled, and has ended; nothing new is begun."""
        opened, self._open = self._open, None
        try:
            await cancel(self._running)
        finally:
            if opened is not None:
                await opened.close()

    async def judge(
        self,
        problem: Problem,
        source: Source,
        *,
        mode: Mode | str = Mode.TEST,
        device: str | None = None,
        baseline: bool = False,
        data: OtherData | None = None,
    ) -> Report:
        """Judge one source. A problem's folder is read once. `baseline`: compare its times with
        those of the problem's reference, which is timed once a minute, on the problem's own data.
        `data`: other than the problem's own.

        Raises `InvalidProblem`, `InvalidSubmission` or `UserError` before anything runs.
        """
        options = replace(self._options(mode, device, baseline=baseline), data=data)
        loaded = self._problems.load(problem)
        submission = source_file(source, loaded.definition.spec)
        return await self._followed(loaded, submission, options)

    def expect_device(self, name: str | None) -> None:
        """Raises `UserError` if there is no device of that name, of a cluster once it is open."""
        self._settings.device(name)

    def expect_baseline(
        self, problem: Problem, *, mode: Mode | str, device: str | None = None
    ) -> None:
        """Raises `InvalidProblem` or `UserError` if the problem's reference can't be timed on the
        device, so that no source of it can be judged with a baseline. Nothing runs."""
        options = self._options(mode, device, baseline=True)
        loaded = self._problems.load(problem)
        _, source = baseline_source(loaded)
        expect_timeable(
            self._settings.job(loaded.definition.spec, source, options.mode, options.device)
        )

    def many(
        self,
        pairs: Iterable[Pair] | AsyncIterable[Pair],
        *,
        mode: Mode | str = Mode.TEST,
        device: str | None = None,
        baseline: bool = False,
    ) -> AsyncGenerator[Report, None]:
        """Judge pairs of a problem and a source, and yield a report of each as it ends: `number`
        says of which. Pairs are taken as there is room for them, not all at once, and no more of
        them while nobody takes the reports.

        A source that no door takes has a report, too. Raises `InvalidProblem` and `UserError` as
        `judge` does; what is being judged then, or when nobody goes on, is cancelled.
        """
        options = self._options(mode, device, baseline=baseline)

        def begin(pair: Pair, number: int) -> "asyncio.Task[Report]":
            return asyncio.create_task(self._numbered(pair, number, options))

        return reports_of(pairs, begin, ahead=2 * self._opened.slots)

    async def _numbered(self, pair: Pair, number: int, options: _Options) -> Report:
        loaded = self._problems.load(pair[0])
        spec = loaded.definition.spec
        try:
            submission = source_file(pair[1], spec)
        except InvalidSubmission as error:
            job = self._settings.job(spec, SourceFile("", ""), options.mode, options.device)
            return Report(refused(job, error), len(spec.tests), number=number)
        return replace(await self._followed(loaded, submission, options), number=number)

    async def _followed(
        self, loaded: LoadedProblem, submission: SourceFile, options: _Options
    ) -> Report:
        """In a task that the end of the block cancels, wherever it was begun."""
        if options.baseline:
            baseline_source(loaded)  # without one it raises before anything runs
        task = asyncio.create_task(self._judged(loaded, submission, options))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await result_of(task)

    async def _judged(
        self, loaded: LoadedProblem, submission: SourceFile, options: _Options
    ) -> Report:
        if not self._dedupe:
            return await self._anew(loaded, submission, options)
        digest = hashlib.sha256(submission.text.encode()).digest()
        key = (_identity(loaded), digest, options)
        return await self._once.get(key, lambda: self._anew(loaded, submission, options))

    async def _anew(
        self, loaded: LoadedProblem, submission: SourceFile, options: _Options
    ) -> Report:
        spec = loaded.definition.spec
        job = self._settings.job(spec, submission, options.mode, options.device)
        if options.data is not None:
            job = options.data.put_into(job)
        expect_timeable(job)
        report = Report(await self._opened.host.judge(job), len(spec.tests))
        if not (options.baseline and report.accepted):
            return report
        try:
            return replace(report, baseline=await self._baseline(loaded, options))
        except BaselineLost as error:
            return Report(no_result(job, str(error)), len(spec.tests))

    async def _baseline(self, loaded: LoadedProblem, options: _Options) -> Baseline:
        name, source = baseline_source(loaded)

        async def measure() -> Baseline:
            job = self._settings.job(loaded.definition.spec, source, options.mode, options.device)
            # Behind others that wait it would be timed minutes after what it is compared with.
            return baseline_of(name, job, await self._opened.host.judge(job, first=True))

        key = (_identity(loaded), replace(options, data=None))
        return await self._baselines.near(key, time.monotonic(), measure)

    def _options(self, mode: Mode | str, device: str | None, *, baseline: bool) -> _Options:
        wanted = mode_of(mode)
        if baseline:
            expect_timed(wanted)
        return _Options(wanted, self._settings.device(device), baseline)

    @property
    def _settings(self) -> JudgingSettings:
        return self._opened.settings

    @property
    def _opened(self) -> Opened:
        if self._open is None:
            raise UserError("This judge isn't open.", hint="Use it in its `async with` block.")
        return self._open


def _identity(loaded: LoadedProblem) -> str:
    """Alike for problems that judge alike, wherever they were read from."""
    return hashlib.sha256(repr(loaded.definition.spec).encode()).hexdigest()
