"""The score of a run from the medians of its workloads."""

import math
from collections.abc import Sequence

from kernelbot.protocol import RankRule, WorkloadResult

_LEAST_NS = 1.0
"""Of an interval's lower end: single calls may be claimed to have taken no time at all."""


def combine(rule: RankRule, values_s: Sequence[float]) -> float:
    """One number of several: the last, the mean, or the geometric mean taken in log space.

    Raises ValueError if a value isn't a finite positive number.
    """
    if not values_s or not all(math.isfinite(value) and value > 0 for value in values_s):
        raise ValueError("a score needs finite positive times")
    if rule is RankRule.LAST:
        return values_s[-1]
    if rule is RankRule.MEAN:
        return math.fsum(values_s) / len(values_s)
    return math.exp(math.fsum(math.log(value) for value in values_s) / len(values_s))


def score(rule: RankRule, workloads: Sequence[WorkloadResult]) -> tuple[float, tuple[float, float]]:
    """Score in seconds, and its interval: the rule applied to the ends of the intervals."""
    medians = [workload.median_ns / 1e9 for workload in workloads]
    lows = [max(workload.ci95_ns[0], _LEAST_NS) / 1e9 for workload in workloads]
    highs = [workload.ci95_ns[1] / 1e9 for workload in workloads]
    return combine(rule, medians), (combine(rule, lows), combine(rule, highs))
