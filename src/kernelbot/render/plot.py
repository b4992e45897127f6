"""Small plots in one line of text."""

import math
from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"


def bins(values: Sequence[float], width: int) -> list[float]:
    """How `values` are spread from the 0th to the 98th percentile, as shares of the fullest
    of `width` bins; empty for fewer than two, one bin if all are the same. The slowest
    2 % are in the last bin: else one slow call would put all others into the first."""
    finite = sorted(value for value in values if math.isfinite(value))
    if len(finite) < 2:
        return []
    low, high = finite[0], finite[min(len(finite) - 1, math.ceil(0.98 * len(finite)) - 1)]
    if high <= low:
        return [1.0]
    counts = [0] * width
    for value in finite:
        share = (value - low) / (high - low)
        counts[min(width - 1, max(0, int(share * width)))] += 1
    tallest = max(counts)
    return [count / tallest for count in counts]


def histogram(values: Sequence[float], width: int = 12) -> str:
    """A bar for each bin. Empty bins are blank, so that a single outlier can be seen."""
    return "".join(map(_bar, bins(values, width)))


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
