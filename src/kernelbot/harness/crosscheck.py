"""Does the time a runner claims fit what the kernel counted for it?

Judged by processor time rather than by the wall, so that a busy machine accuses nobody: a thread
that computes is charged for it, whatever it tells, and one that must be still is charged nothing.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kernelbot.harness.sampling import median_interval
from kernelbot.harness.windows import Window
from kernelbot.protocol import DeviceSpec, Floor

_BOUND_SLACK = 1.25
"""How much dearer than a call that does nothing the harness's own part of a call may be, before
the rest is taken for the author's work and counted as his time."""
_BOUND_SLACK_NS = 20_000
_MEDIAN_SLACK_NS = 5_000
_LITTLE = 0.05
"""Where a lie gains no more than this share, fewer calls of the control runner will do."""
_BOUND_WALL_NS = 400_000
_BOUND_WALL_GPU_NS = 50_000
"""On a GPU the wall is all there is: the processor only waits, and can do so without being charged.
Of honest calls one in twenty is dearer than the control calls, which leaves a median as it is."""
_DOUBT = 2.0
"""Only what is beyond twice the dearest nineteen in twenty of the control calls accuses."""
_DOUBT_NS = 100_000
_DOUBT_WALL_NS = 1_000_000
_STILL_NS = 100_000
_CLAIM_SHARE = 0.1
_PART_SHARE = 0.25
"""How much of the harness's own cost each further value of an output adds to it."""
_FEWEST = 5
"""Fewer calls than these accuse nobody; their times are bounded all the same."""
_HIGH = 0.95


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
class Spread:
    """One of the harness's own costs around a call, over the control calls, in ns."""

    median_ns: float
    high_ns: float
    """What nineteen in twenty stay below."""
    upper_ns: float
    """The upper end of the median's interval."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of at least one value."""
        ordered = sorted(values)
        return cls(
            statistics.median(ordered),
            ordered[min(int(_HIGH * len(ordered)), len(ordered) - 1)],
            median_interval(ordered)[1],
        )

    def doubtful_ns(self, slack_ns: float, share: float = 1.0) -> float:
        """From where on it can't be the harness's own cost, however busy the machine is."""
        return max(self.high_ns, 0.0) * _DOUBT * share + slack_ns


@dataclass(frozen=True)
class Baseline:
    """The harness's own costs around a call, from calls of a runner without an author."""

    build_cpu: Spread
    excess_cpu: Spread
    """Processor time of the main thread beyond the claim: reading and answering messages."""
    excess_tree: Spread
    """The same of everything, by processor: with several ranks the harness has a part in each."""
    wait: Spread
    """Wall time beyond the claim that is not explained by waiting for a processor."""
    parts: int
    """How many values those calls returned."""
    wall_slack_ns: float

    @classmethod
    def of(cls, windows: Sequence[Window], parts: int, *, on_gpu: bool = False) -> "Baseline":
        """Of calls made under the same conditions as those to be judged."""
        return cls(
            Spread.of([window.build_cpu_ns for window in windows]),
            Spread.of([_excess_ns(window) for window in windows]),
            Spread.of([w.call_tree_cpu_ns / w.processors - w.claim_ns for w in windows]),
            Spread.of([_wait_ns(window) for window in windows]),
            parts,
            _BOUND_WALL_GPU_NS if on_gpu else _BOUND_WALL_NS,
        )

    def bounded_ns(self, window: Window, parts: int) -> float:
        """The claim, but never less than the time that surely belongs to the call.

        Loose, since noise must not spoil an honest sample; `least_median_ns` is closer.
        """
        share = self._share(parts)
        explained = self.excess_cpu.median_ns * _BOUND_SLACK * share + _BOUND_SLACK_NS
        by_all = self.excess_tree.median_ns * _BOUND_SLACK * share + _BOUND_SLACK_NS
        return max(
            float(window.claim_ns),
            window.call_cpu_ns - explained,
            # Helpers' work takes at least this long, also where the main thread slept meanwhile.
            window.call_tree_cpu_ns / window.processors - max(explained, by_all),
            window.bracket_ns
            - window.waiting_ns
            - max(self.wait.high_ns, 0.0) * share
            - self.wall_slack_ns,
        )

    def least_median_ns(self, windows: Sequence[Window], parts: int) -> float:
        """What the median of honest times isn't below, by all calls together.

        The judge's clocks around the calls, less the control calls' own cost, at that end of the
        difference's interval which favours the author. This is what makes a small lie worthless.
        """
        if len(windows) < _FEWEST:
            return 0.0
        return max(left_ns - reach_ns for left_ns, reach_ns in self._left(windows, parts))

    def leaves_little_to_gain(self, windows: Sequence[Window], parts: int) -> bool:
        """Whether even the best lie would gain little against what the clocks leave."""
        if len(windows) < _FEWEST:
            return False
        return any(
            reach_ns <= _LITTLE * left_ns for left_ns, reach_ns in self._left(windows, parts)
        )

    def _left(self, windows: Sequence[Window], parts: int) -> Iterator[tuple[float, float]]:
        """By processor time and by the wall: the median of the calls less that of the control
        calls, and how far below that the truth may lie, in ns.

        The half widths of two independent intervals add up as their squares do.
        """
        share = self._share(parts)
        computed = [max(w.call_cpu_ns, w.call_tree_cpu_ns / w.processors) for w in windows]
        excess = max(self.excess_cpu, self.excess_tree, key=lambda spread: spread.upper_ns)
        took = [float(window.bracket_ns - window.waiting_ns) for window in windows]
        for values, cost in ((computed, excess), (took, self.wait)):
            middle_ns = statistics.median(values)
            cost_ns, dearest_ns = max(cost.median_ns, 0.0), max(cost.upper_ns, 0.0)
            reach = middle_ns - median_interval(values)[0], (dearest_ns - cost_ns) * share
            yield middle_ns - cost_ns * share, math.hypot(*reach) + _MEDIAN_SLACK_NS

    def contradiction(self, windows: Sequence[Window], parts: int) -> Contradiction | None:
        """What the judge's clocks clearly have against the claims; None when nothing."""
        claim = _median(windows, lambda window: window.claim_ns)
        if claim <= 0 or any(w.claim_ns > w.bracket_ns for w in windows):
            return Contradiction(
                "A claimed time is impossible: not positive, or longer than the call took.",
                f"median claim {claim:.0f} ns",
            )
        if len(windows) < _FEWEST:
            return None
        share = self._share(parts)
        checks = (
            (
                "work before the call, while the inputs were made",
                _median(windows, lambda window: window.build_cpu_ns),
                self.build_cpu.doubtful_ns(_DOUBT_NS),
            ),
            (
                "work while it had to wait for the call",
                _median(windows, lambda window: window.still_cpu_ns),
                _STILL_NS,
            ),
            (
                "more processor time in the call than the time it claims",
                _median(windows, _excess_ns),
                self.excess_cpu.doubtful_ns(_DOUBT_NS, share),
            ),
            (
                "a call that took longer than the time it claims",
                _median(windows, _wait_ns),
                self.wait.doubtful_ns(_DOUBT_WALL_NS, share),
            ),
        )
        for what, seen, explained in checks:
            allowed = explained + _CLAIM_SHARE * claim
            if seen > allowed:
                return Contradiction(
                    f"The clocks contradict the submission: {what}.",
                    f"seen {seen / 1e3:.1f} us, explained {allowed / 1e3:.1f} us, "
                    f"claimed {claim / 1e3:.1f} us (medians of {len(windows)} calls)",
                )
        return None

    def _share(self, parts: int) -> float:
        """An output of many values takes longer to describe than one of few."""
        return 1.0 + _PART_SHARE * max(parts - self.parts, 0)


def _median(windows: Sequence[Window], what: Callable[[Window], float]) -> float:
    return statistics.median(map(what, windows))


def _excess_ns(window: Window) -> float:
    return window.call_cpu_ns - window.claim_ns


def _wait_ns(window: Window) -> float:
    return window.bracket_ns - window.claim_ns - window.waiting_ns
