"""The control runner: a second, clean runner that calls known kernels under the same conditions.

The overhead of a call depends on what else the machine does. So it is measured again and again
between the author's calls, with the same data and equally cold caches, in a process that never
loads an author's code: nobody can forge it, and a busy machine slows both sides alike.
"""

import math
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import shared_files, shared_modules
from kernelbot.harness.judge.calls.callers import Caller, Several
from kernelbot.harness.judge.calls.conversations import caller_of, open_session
from kernelbot.harness.judge.calls.rank import RankRunner
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.plausibility import CallBaseline
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.harness.words.windows import OutputLayout, Reply
from kernelbot.protocol import SourceFile, Verdict

IDENTITY = "identity"
"""Returns its first array; for a compiled problem, does nothing with the same buffers."""
NOTHING = "nothing"
MARK = "mark"
"""No call at all: on a CPU, one mark directly after the other, the cheapest possible answer."""
MIRROR = "mirror"
"""Launches a kernel that does nothing, and hands over as much as the author's kernel does."""
_LOADED = "author"
"""A runner's name for the kernel that was loaded into it: here it is always the anchor."""
_ANCHOR_S = 60.0
"""The time limit of a call of the anchor."""
_WARMING_CALLS = 3
_WARMING_CALLS_ON_CPU = 1
_EMPTY_CALLS = 3
_COLD_CALLS = 3
_LESS = 0.9
_PART_SHARE = 0.25
"""Share of the harness's own cost that each further value of an output adds, on a GPU, or to its
description. On a CPU it was a tenth at most."""


Layouts = tuple[OutputLayout, ...]
"""The layout of each rank's output."""


class AnchorFailed(Exception):
    """The problem's anchor did what would be an author's failure in a submission."""


class Control:
    """Calls known kernels in a runner of its own. Raises `SandboxUnavailable` if that fails."""

    def __init__(
        self,
        plan: Plan,
        client: RunnerClient,
        flusher: CacheFlusher,
        deadline: float,
        *,
        anchor_call_s: float = _ANCHOR_S,
        devices: tuple[JudgeDevice, ...] = (),
    ) -> None:
        """`anchor_call_s`: how long a call of the anchor may take, even if the phase has less time
        left. `devices`: the judge's."""
        spec = plan.job.problem
        self._flusher = flusher
        self._anchor_call_s = anchor_call_s
        self._calls = 0
        self._observed: dict[int, ControlCalls] = {}
        self._window_calls: dict[int, int] = {}
        self._parts: dict[int, int] = {}
        self._sizes_bytes: dict[int, int] = {}
        self._session = open_session(
            plan, client, shared_modules(spec), deadline, spec.benchmarks[-1], devices
        )
        self._caller: Caller | None = None
        self._on_gpu = plan.on_gpu
        self._in_place = plan.outputs is not None
        self._layouts: dict[int, Layouts] = {}
        self._mirrored: tuple[tuple[RankRunner, ...], Layouts] | None = None
        try:
            with _blaming_us():
                files, fresh_output = shared_files(spec), spec.fresh_output
                self._session.setup(files, plan.device, fresh_output, plan.outputs)
            self._caller = caller_of(plan, self._session)
        except BaseException:
            self.close()
            raise
        self._mirrors = self._session.has_arenas

    def extend(self, deadline: float) -> None:
        """Serve another phase: the runner is still clean."""
        self._session.deadline = deadline

    def load_anchor(self, source: SourceFile) -> None:
        """Load the problem's anchor, the only kernel here that isn't the harness's own."""
        with self._own_time():
            self._session.load(source, source.name)

    def load_anchor_library(self, binary: bytes, outputs: tuple[int, ...]) -> None:
        """Load the anchor of a compiled problem."""
        with self._own_time():
            self._session.load_library(binary, outputs)

    def call_anchor(self, data: Any) -> Reply:
        """One timed call of the anchor with cold caches."""
        self._calls += 1
        with self._own_time():
            return self._timed().timed_call(data, self._flusher, bool(self._calls % 2), _LOADED)

    @contextmanager
    def _own_time(self) -> Iterator[None]:
        """Use the anchor's own time limit, not that of the author's phase. Raises
        `AnchorFailed`."""
        deadline = self._session.deadline
        self._session.deadline = time.monotonic() + self._anchor_call_s
        try:
            yield
        except AuthorFailure as error:
            if error.verdict is Verdict.TIME_LIMIT:
                limit_s = self._anchor_call_s
                raise AnchorFailed(f"It was not done after {limit_s:g} s.") from error
            raise AnchorFailed(error.message.replace("The submission", "It", 1)) from error
        finally:
            self._session.deadline = deadline

    def calibrate(self, index: int, data: Any, budget_s: float = math.inf) -> float:
        """Warm up and begin a new baseline for workload `index`; returns the median time of an
        empty call in ns.

        `budget_s`: once so much time is spent, there is one call of each kind still to come, but no
        second: with gigabytes of data each takes seconds.
        """
        until = time.monotonic() + budget_s
        self._observed[index] = self._no_calls()
        self._mirror(index, data)
        for _ in _times(_WARMING_CALLS if self._on_gpu else _WARMING_CALLS_ON_CPU, until):
            reply = self.call(data, IDENTITY, cold=False)
            self._parts[index], self._sizes_bytes[index] = reply.parts, reply.size_bytes
            if not self._on_gpu:
                self.call(data, MARK, cold=False)
        empty = [self.call(data, NOTHING, cold=False) for _ in _times(_EMPTY_CALLS, until)]
        for _ in _times(_COLD_CALLS, until):
            self.observe(index, data)
        return statistics.median(reply.window.claim_ns for reply in empty)

    def follow(self, index: int, data: Any, layouts: Layouts) -> None:
        """From now on answer as the author does in workload `index`, whose output has this layout
        on each rank; if that isn't known, as before.

        Only ever more cheaply than before: whoever returned much at first and little later would
        have too much subtracted.
        """
        if not self._mirrors or not layouts:
            return
        known = self._layouts.get(index)
        if known is not None and not any(map(_is_much_cheaper, layouts, known)):
            return
        cheaper = layouts if known is None else tuple(map(OutputLayout.at_most, layouts, known))
        self._layouts[index] = cheaper
        self._mirror(index, data)
        self.call(data, MIRROR, cold=False)  # the first may have to get more memory
        self._observed[index] = self._no_calls()
        for _ in range(_COLD_CALLS):
            self.observe(index, data)

    def prepare_windows(self, index: int, data: Any, calls: int) -> None:
        """From now on get ready for as many calls as the windows of workload `index` hold."""
        self._window_calls[index] = calls
        self._observed[index] = self._no_calls()
        for _ in range(_COLD_CALLS):
            self.observe(index, data)

    def _no_calls(self) -> ControlCalls:
        return ControlCalls(on_gpu=self._on_gpu, launches=self._mirrors)

    def _mirror(self, index: int, data: Any) -> None:
        """Have the runners answer as workload `index`, which has such data, needs it."""
        if not self._mirrors:
            return
        with _blaming_us():
            count = len(self._session.parts(data))
            ranks = self._session.ranks  # others whenever their number changes
            layouts = self._layouts.get(index, (OutputLayout(),) * count)
            if self._mirrored == (ranks, layouts):
                return
            for rank, layout in zip(ranks, layouts, strict=True):
                rank.mirror(layout, in_place=self._in_place)
            self._mirrored = ranks, layouts

    def observe(self, index: int, data: Any) -> None:
        """One more cold call that does nothing, for the baseline of workload `index`."""
        kernel = IDENTITY if self._on_gpu else MARK
        calls = self._window_calls.get(index, 1)
        given = data if calls == 1 else Several((data,) * calls)
        self._observed[index].add(self.call(given, kernel).window)

    def baseline(self, index: int, parts: int, size_bytes: int = 0) -> CallBaseline:
        """The overhead of calls of workload `index`, as measured so far.

        `parts`, `size_bytes`: of how many values and bytes the author's output consists.
        """
        if self._mirrors:
            return self._observed[index].baseline()
        more = max(parts - self._parts[index], 0)
        # On a CPU the judge reads the output itself; on a GPU the runner copies it.
        larger = size_bytes / max(self._sizes_bytes[index], 1) if self._on_gpu else 1.0
        return self._observed[index].baseline(1.0 + _PART_SHARE * more, max(larger, 1.0))

    def stand_still(self) -> None:
        """Freeze the runner, and let it go on. Raises `NotFrozen`."""
        self._timed().hold()
        self._timed().release()

    def call(self, data: Any, kernel: str, *, cold: bool = True) -> Reply:
        """One timed call of a kernel this runner knows."""
        self._calls += 1
        if self._mirrors:
            kernel = MIRROR
        with _blaming_us():
            flusher = self._flusher if cold else None
            return self._timed().timed_call(data, flusher, bool(self._calls % 2), kernel)

    def _timed(self) -> Caller:
        if self._caller is None:
            raise AssertionError("the runner was set up")
        return self._caller

    def close(self) -> None:
        """End the runner."""
        self._session.abort()
        if self._caller is not None:
            self._caller.close()


def _is_much_cheaper(layout: OutputLayout, known: OutputLayout) -> bool:
    """Whether an output of this layout is handed over for clearly less."""
    return (
        layout.arrays < known.arrays
        or layout.device_bytes < _LESS * known.device_bytes
        or layout.host_bytes < _LESS * known.host_bytes
    )


def _times(most: int, until: float) -> Iterator[None]:
    """Once, and then again up to `most` times in all, as long as it isn't `until`."""
    yield
    for _ in range(most - 1):
        if time.monotonic() >= until:
            return
        yield


@contextmanager
def _blaming_us() -> Iterator[None]:
    """No author's code runs here: only running out of time can be the author's fault."""
    try:
        yield
    except AuthorFailure as error:
        if error.verdict is Verdict.TIME_LIMIT:
            raise
        raise SandboxUnavailable(f"The control runner failed: {error.message}") from error
