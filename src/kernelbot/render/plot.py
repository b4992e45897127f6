"""Small plots in one line of text."""

import math
from collections.abc import Sequence

from kernelbot.protocol.late import dataclass

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class ValueSpread:
    """How values are spread between two of them: `heights` are shares of the fullest bin.
    `slower`: how many are beyond `high`, and aren't in a bin; `highest`: the largest of all."""

    heights: tuple[float, ...]
    low: float
    high: float
    slower: int
    highest: float


def spread_of(values: Sequence[float], width: int) -> ValueSpread | None:
    """The spread from the 0th to the 98th percentile in `width` bins, one bin if all there are the
    same; None for fewer than two values. The slowest 2 % are counted only: one slow call would put
    all others into the first bin."""
    finite = sorted(value for value in values if math.isfinite(value))
    if len(finite) < 2:
        return None
    low, high = finite[0], finite[min(len(finite) - 1, math.ceil(0.98 * len(finite)) - 1)]
    shown = [value for value in finite if value <= high]
    heights = _heights(shown, low, high, width) if high > low else (1.0,)
    return ValueSpread(heights, low, high, len(finite) - len(shown), finite[-1])


def _heights(values: Sequence[float], low: float, high: float, width: int) -> tuple[float, ...]:
    counts = [0] * width
    for value in values:
        counts[min(width - 1, int((value - low) / (high - low) * width))] += 1
    tallest = max(counts)
    return tuple(count / tallest for count in counts)


def histogram(values: Sequence[float], width: int = 12) -> str:
    """A bar for each bin, and how many values are slower than all that is shown. Empty bins are
    blank."""
    spread = spread_of(values, width)
    if spread is None:
        return ""
    bars = "".join(map(_bar, spread.heights))
    return f"{bars} +{spread.slower} slower" if spread.slower else bars


def sparkline(values: Sequence[float], width: int = 12) -> str:
    """The last `width` values in their order, one bar each: the least is the lowest bar, the
    greatest the highest. Values that aren't finite are blank."""
    shown = values[-width:]
    finite = [value for value in shown if math.isfinite(value)]
    if not finite:
        return " " * len(shown)
    low, spread = min(finite), max(finite) - min(finite)
    return "".join(_step(value, low, spread) for value in shown)


def _step(value: float, low: float, spread: float) -> str:
    if not math.isfinite(value):
        return " "
    return _BARS[round((value - low) / spread * (len(_BARS) - 1)) if spread > 0 else 0]


def _bar(share: float) -> str:
    if share <= 0:
        return " "
    return _BARS[min(len(_BARS) - 1, math.ceil(share * len(_BARS)) - 1)]
