"""How the 95 % interval of one judging becomes one of all judgings, for what isn't stored."""

import math

from kernelbot.protocol.scoring import Z95

_LEAST_SHARE = 1e-6


def widened(median: float, ci95: tuple[float, float], scatter: float) -> tuple[float, float]:
    """The interval with the scatter between judgings, which is a standard deviation of ln(time):
    distances in ln are added as squares. In the store, `widened_low` and `widened_high` do so.

    Raises ValueError if the median isn't above 0.
    """
    if median <= 0:
        raise ValueError("only of times above 0 there is a logarithm")
    if scatter == 0:
        return ci95
    low, high = ci95
    more = Z95 * scatter
    below = math.log(median / max(min(low, median), median * _LEAST_SHARE))
    above = math.log(max(high, median) / median)
    return (median * math.exp(-math.hypot(below, more)), median * math.exp(math.hypot(above, more)))
