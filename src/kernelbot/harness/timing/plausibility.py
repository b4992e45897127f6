"""Does the time a runner claims fit what the kernel counted for it?

Judged by processor time rather than by the wall, so that a busy machine accuses nobody: a thread
that computes is charged for it, whatever it tells, and one that must be still is charged nothing.
"""

import statistics
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kernelbot.harness.judge.windows import Window
from kernelbot.protocol import DeviceSpec, Floor

_LOW = 0.1
"""On a CPU: nine in ten of the cheapest answers cost more than is subtracted."""
_HIGH = 0.95
_SLACK = 1.25
_SLACK_NS = 20_000
_SLACK_WALL_NS = 50_000
"""On a GPU a call's end is a message, which costs more and less evenly: of honest calls one in
twenty is dearer than the control calls, which leaves a median as it is."""
_DOUBT = 2.0
"""Work before a call accuses only beyond twice the dearest nineteen in twenty of control calls."""
_DOUBT_NS = 100_000
_DOUBT_WALL_NS = 1_000_000
_CLAIM_SHARE = 0.1
"""A median that lacks less than all this accuses nobody: its samples are what the clocks say."""
_FEWEST_TO_SUSPECT = 20
_STEADY_SHARE = 0.1
_LACK_NS = 20_000
_FEWEST = 5
"""Fewer calls than these accuse nobody either."""


@dataclass(frozen=True)
class Contradiction:
    """A sentence, and the numbers behind it."""

    message: str
    evidence: str


def below_floor(floor: Floor | None, device: DeviceSpec, median_ns: float) -> Contradiction | None:
    """Whether a time is less than the device can need for the work the problem names.

    The floor is the larger of flops over peak flops and bytes over peak bandwidth; what isn't
    configured doesn't count.
    """
    floor_s = 0.0
    if floor is not None and floor.flops and device.peak_flops:
        floor_s = floor.flops / device.peak_flops
    if floor is not None and floor.memory_bytes and device.peak_bytes_per_s:
        floor_s = max(floor_s, floor.memory_bytes / device.peak_bytes_per_s)
    floor_ns = max(floor_s * 1e9, device.launch_overhead_ns or 0.0)
    if median_ns >= floor_ns:
        return None
    return Contradiction(
        "The time is below what this device can need for the work the problem asks for.",
        f"median {median_ns / 1e3:.3f} us, floor {floor_ns / 1e3:.3f} us",
    )


@dataclass(frozen=True)
class Baseline:
    """What of a call is nobody's work, in ns: by the control runner, where no author is."""

    took_ns: float
    """Of the judge's bracket around it."""
    main_cpu_ns: float
    """Of the main thread's processor time."""
    tree_cpu_ns: float
    """Of everything's processor time, by processor: with several ranks each has its part."""
    build_cpu_ns: float
    """Of the processor time before the call, while its inputs were laid out: what nineteen in
    twenty of the control calls stay below."""
    still_cpu_ns: float
    """The same of the time while it had to wait for the call."""
    spread_ns: float
    """How far the middle half of the brackets around the control calls lie apart."""

    def bounded_ns(self, window: Window) -> float:
        """The claim, but never less than the time that surely belongs to the call.

        Of a call that counts until its output was described nothing is subtracted.
        """
        if window.described:
            return float(window.bracket_ns)
        return max(
            float(window.claim_ns),
            _took_ns(window) - self.took_ns,
            self._computed_ns(window),
        )

    def contradiction(self, windows: Sequence[Window]) -> Contradiction | None:
        """What the judge's clocks clearly have against the claims; None when nothing."""
        windows = [window for window in windows if not window.described]
        if not windows:
            return None
        claim_ns = statistics.median(window.claim_ns for window in windows)
        if claim_ns <= 0 or any(window.claim_ns > window.bracket_ns for window in windows):
            return Contradiction(
                "A claimed time is impossible: not positive, or longer than the call took.",
                f"median claim {claim_ns:.0f} ns",
            )
        if len(windows) < _FEWEST:
            return None
        for what, seen, explained_ns in self._charges():
            seen_ns = statistics.median(map(seen, windows))
            allowed_ns = explained_ns + _CLAIM_SHARE * claim_ns
            if seen_ns > allowed_ns:
                return Contradiction(
                    f"The clocks contradict the submission: {what}.",
                    f"seen {seen_ns / 1e3:.1f} us, explained {allowed_ns / 1e3:.1f} us, "
                    f"claimed {claim_ns / 1e3:.1f} us (medians of {len(windows)} calls)",
                )
        return None

    def suspicion(self, windows: Sequence[Window]) -> str | None:
        """What makes the claims look invented, if anything: no kernel's times lie far closer
        together than what the judge's own clock saw of the same calls, and far below it as well.
        """
        windows = [window for window in windows if not window.described]
        if len(windows) < _FEWEST_TO_SUSPECT:
            return None
        claims_ns = _spread_ns(sorted(window.claim_ns for window in windows))
        lack_ns = statistics.median(self.bounded_ns(one) - one.claim_ns for one in windows)
        spread_ns = _spread_ns(sorted(_took_ns(window) for window in windows))
        steady = claims_ns < _STEADY_SHARE * (spread_ns - 2 * self.spread_ns)
        if not steady or lack_ns < _LACK_NS:
            return None
        return (
            f"the claims' middle half lies within {claims_ns / 1e3:.2f} us, that of the judge's "
            f"clock within {spread_ns / 1e3:.1f} us, and {lack_ns / 1e3:.1f} us were added."
        )

    def _charges(self) -> Iterator[tuple[str, Callable[[Window], float], float]]:
        """What may be held against a claim: in words, of one call, and how much accuses nobody."""
        yield (
            "work before the call, while the inputs were made",
            lambda window: window.build_cpu_ns,
            self.build_cpu_ns * _DOUBT + _DOUBT_NS,
        )
        yield (
            "work while it had to wait for the call",
            lambda window: window.still_cpu_ns,
            self.still_cpu_ns * _DOUBT + _DOUBT_NS,
        )
        yield (
            "more processor time in the call than the time it claims",
            lambda window: self._computed_ns(window) - window.claim_ns,
            _DOUBT_NS,
        )
        yield (
            "a call that took longer than the time it claims",
            lambda window: _took_ns(window) - self.took_ns - window.claim_ns,
            _DOUBT_WALL_NS,
        )

    def _computed_ns(self, window: Window) -> float:
        """Helpers' work takes at least this long, also where the main thread slept meanwhile."""
        alone_ns = window.call_cpu_ns - self.main_cpu_ns
        return max(alone_ns, _shared_ns(window) - self.tree_cpu_ns)


class ControlCalls:
    """What the control runner's calls of one workload have cost so far.

    Each cost is kept in order, so that the baseline after one more call is looked up, not sorted.
    """

    def __init__(self, *, on_gpu: bool) -> None:
        self._on_gpu = on_gpu
        self._took_ns: list[float] = []
        self._main_cpu_ns: list[float] = []
        self._tree_cpu_ns: list[float] = []
        self._build_cpu_ns: list[float] = []
        self._still_cpu_ns: list[float] = []
        self._bracket_ns: list[float] = []

    def add(self, window: Window) -> None:
        """One more call. On a GPU its own work is subtracted; on a CPU it has none."""
        work_ns = window.claim_ns if self._on_gpu else 0
        insort(self._took_ns, _took_ns(window) - work_ns)
        insort(self._main_cpu_ns, window.call_cpu_ns - work_ns)
        insort(self._tree_cpu_ns, _shared_ns(window) - work_ns)
        insort(self._build_cpu_ns, window.build_cpu_ns)
        insort(self._still_cpu_ns, window.still_cpu_ns)
        insort(self._bracket_ns, _took_ns(window))

    def baseline(self, share: float = 1.0) -> Baseline:
        """What of a call is nobody's work, by the calls so far: there must be one at least.

        `share`: how much dearer an answer is than those, as one of more values; on a GPU only.
        """
        took_ns, main_cpu_ns, tree_cpu_ns = self._usual(share) if self._on_gpu else self._cheapest()
        return Baseline(
            took_ns,
            main_cpu_ns,
            tree_cpu_ns,
            _quantile(self._build_cpu_ns, _HIGH),
            _quantile(self._still_cpu_ns, _HIGH),
            _spread_ns(self._bracket_ns),
        )

    def _cheapest(self) -> tuple[float, float, float]:
        """What the cheapest answer costs: a submission that gives one gains nothing, and an honest
        one costs its author some microseconds more."""
        return (
            _quantile(self._took_ns, _LOW),
            _quantile(self._main_cpu_ns, _LOW),
            _quantile(self._tree_cpu_ns, _LOW),
        )

    def _usual(self, share: float) -> tuple[float, float, float]:
        """What nineteen in twenty answers of the harness's own cost less than."""
        took_ns = max(_quantile(self._took_ns, _HIGH), 0.0) * share + _SLACK_WALL_NS
        main_cpu_ns = _median(self._main_cpu_ns) * share * _SLACK + _SLACK_NS
        tree_cpu_ns = _median(self._tree_cpu_ns) * share * _SLACK + _SLACK_NS
        return took_ns, main_cpu_ns, max(main_cpu_ns, tree_cpu_ns)


def _took_ns(window: Window) -> float:
    return window.bracket_ns - window.waiting_ns


def _shared_ns(window: Window) -> float:
    return window.call_tree_cpu_ns / window.processors


def _spread_ns(ordered: Sequence[float]) -> float:
    return _quantile(ordered, 0.75) - _quantile(ordered, 0.25)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _median(ordered: Sequence[float]) -> float:
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
