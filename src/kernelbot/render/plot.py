"""Small plots in one line of text."""

import math
from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"


def histogram(values: Sequence[float], width: int = 12) -> str:
    """How `values` are spread from the 0th to the 98th percentile, one bar per bin; empty for
    fewer than two. Empty bins are blank, so that a single outlier can be seen. The slowest 2 %
    are in the last bin: else one slow call would put all others into the first."""
    finite = sorted(value for value in values if math.isfinite(value))
    if len(finite) < 2:
        return ""
    low, high = finite[0], finite[min(len(finite) - 1, math.ceil(0.98 * len(finite)) - 1)]
    if high <= low:
        return _BARS[-1]
    counts = [0] * width
    for value in finite:
        share = (value - low) / (high - low)
        counts[min(width - 1, max(0, int(share * width)))] += 1
    tallest = max(counts)
    return "".join(_bar(count / tallest) for count in counts)


def _bar(share: float) -> str:
    if share <= 0:
        return " "
    return _BARS[min(len(_BARS) - 1, math.ceil(share * len(_BARS)) - 1)]
