"""Windows in which the kernel had to wait for a processor that others had.

How long it waited is known and is no part of its time. What it lost beside that isn't: whoever had
its processor has used its caches. So such a window is no sample, and is repeated with new data.

Only the wait decides, beyond what all processes of the runner computed meanwhile, and never how
long the window was otherwise. But a kernel can make itself wait on a busy machine, e.g. by giving
its processor away in the calls it wants to be rid of, and long calls wait more often than short
ones by themselves. So the first window for each sample is kept as well: if these took longer, also
without their waits, they count, and repeating has gained nothing.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.words.windows import Window
from kernelbot.protocol.ratios import ratio_of

_LONG_NS = 50_000
"""A task of the system's takes less; a neighbour has a processor for some hundred microseconds at
least."""
_LONG_SHARE = 0.01
"""A wait is long if it is a larger part of the usual window than this: in a second there is always
some wait of 50 us, which changes nothing."""
_SAME = 0.03
"""Two medians that differ by no more than this share are the same: what a wait does to caches isn't
held against a kernel."""
FIRSTS_COUNT = (
    "Calls that waited for a processor were slower than the others, even without their waits. So "
    "those count, less their waits, and not the calls that repeated them."
)


@dataclass
class Waits:
    """What is known of the windows of one workload; in a duel of the pairs of windows."""

    windows: int = 0
    waited: int = 0
    repeated: int = 0
    """Windows beyond one for each sample."""
    told: bool = True
    """Whether the system tells waits, of every window, and they are looked at."""
    firsts_count: bool = False
    """Whether each sample is its first window, although that may have waited."""
    unexplained: int = 0
    """If the system tells no waits: of how many samples only waiting explains how long they took.
    """

    @property
    def known(self) -> int | None:
        """How many windows waited; None if neither the system nor control calls tell of any."""
        return self.waited if self.told else self.unexplained or None

    def add(self, windows: Sequence[Window], usual_ns: float, *, again: bool) -> bool:
        """Add a window, or a duel's pair; returns whether it waited. `again`: it repeats the last
        one."""
        waited = self.told and any(has_waited(window, usual_ns) for window in windows)
        self.windows += 1
        self.waited += waited
        self.repeated += again
        self.told &= all(window.kept_waiting_ns is not None for window in windows)
        return waited


def has_waited(window: Window, usual_ns: float) -> bool:
    """Whether a window is no sample, since others had the kernel's processor meanwhile.

    `usual_ns`: the median of the windows before it, 0 if there are none; not its own time, so that
    a slow one and a quick one that waited as long are treated alike.
    """
    waited_ns = window.kept_waiting_ns
    return waited_ns is not None and waited_ns > max(_LONG_NS, _LONG_SHARE * usual_ns)


def gains_by_repeating(sides: Sequence[Sequence[float]], firsts: Sequence[Sequence[float]]) -> bool:
    """Whether samples show another time than the first windows for them, without their waits: a
    shorter one, or in a duel another ratio, whoever gains by it.

    `sides`, `firsts`: the samples of one kernel, or of both, in ns, and those first windows.
    """
    value, first_value = _value(sides), _value(firsts)
    if len(sides) == 1:
        return first_value > (1 + _SAME) * value
    return not value / (1 + _SAME) <= first_value <= (1 + _SAME) * value


def _value(sides: Sequence[Sequence[float]]) -> float:
    return statistics.median(sides[0] if len(sides) == 1 else map(ratio_of, *sides))
