"""How samples become a median with its interval, and those of all workloads a score.

The harness judges by this rule, and whoever checks a signed result computes by the same.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kernelbot.protocol.enums import Phase, RankRule

Workload = TypeVar("Workload")
SAMPLES_PER_FACTOR = 10
"""Number of consecutive samples that share one drift factor."""
_HALF_WIDTH = 0.98
"""Half of 1.96: the normal approximation of the binomial(n, 1/2) has a deviation of sqrt(n)/2."""
_LEAST_NS = 1.0
"""Of an interval's lower end: single calls may be claimed to have taken no time at all."""


class Timed(Protocol):
    """A workload's median and its 95 % interval, in nanoseconds."""

    @property
    def median_ns(self) -> float: ...

    @property
    def ci95_ns(self) -> tuple[float, float]: ...


@dataclass(frozen=True)
class MedianTime:
    """The median of a workload's samples without drift, and its 95 % interval."""

    median_ns: float
    ci95_ns: tuple[float, float]


def median_time(samples_ns: Sequence[float], drift_factors: Sequence[float] = ()) -> MedianTime:
    """What a workload's samples show. Raises ValueError without samples, and IndexError if there
    are fewer factors than blocks of samples, but any."""
    steady = steady_samples(samples_ns, drift_factors)
    return MedianTime(statistics.median(steady), median_interval(steady))


def steady_samples(
    samples_ns: Sequence[float], drift_factors: Sequence[float] = ()
) -> Sequence[float]:
    """The samples, each times its block's factor; as they are without factors."""
    if not drift_factors:
        return samples_ns
    return [
        sample * drift_factors[place // SAMPLES_PER_FACTOR]
        for place, sample in enumerate(samples_ns)
    ]


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the median: the order statistics at n/2 -+ 0.98 sqrt(n).

    With fewer than six samples no pair of order statistics covers 95 %; it is the whole range.
    """
    ordered = sorted(samples)
    count = len(ordered)
    reach = _HALF_WIDTH * math.sqrt(count)
    low = max(math.floor(count / 2 - reach), 1)
    high = min(math.ceil(count / 2 + reach) + 1, count)
    return ordered[low - 1], ordered[high - 1]


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


def scoring_workloads(by_phase: Mapping[Phase, Sequence[Workload]]) -> Sequence[Workload]:
    """Those that a run's score is made of: the ranked phase's, else the benchmark's."""
    return by_phase.get(Phase.LEADERBOARD) or by_phase.get(Phase.BENCHMARK) or ()


def score(rule: RankRule, workloads: Sequence[Timed]) -> tuple[float, tuple[float, float]]:
    """Score in seconds, and its interval: the rule applied to the ends of the intervals. Raises
    ValueError as `combine`."""
    medians = [workload.median_ns / 1e9 for workload in workloads]
    lows = [max(workload.ci95_ns[0], _LEAST_NS) / 1e9 for workload in workloads]
    highs = [workload.ci95_ns[1] / 1e9 for workload in workloads]
    return combine(rule, medians), (combine(rule, lows), combine(rule, highs))
