"""How samples become a median with its interval, and those of all workloads a score.

The harness judges by this rule, and whoever checks a signed result computes by the same.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from kernelbot.protocol.enums import Phase
from kernelbot.protocol.late import dataclass
from kernelbot.protocol.rank_rule import RankRule

Workload = TypeVar("Workload")
MOST_CALLS = 32
"""Most calls of which a sample is the mean."""
SAMPLES_PER_FACTOR = 10
"""Number of consecutive samples that share one drift factor."""
FEWEST_FOR_AN_INTERVAL = 6
"""With fewer samples no pair of order statistics covers 95 %: 1 - 2 * 0.5**5 is below it."""
MAX_DRIFT = 0.1
"""The largest correction by an anchor: more isn't drift, and nobody may gain by it."""
_HALF_WIDTH = 0.98
"""Half of 1.96: the normal approximation of the binomial(n, 1/2) has a deviation of sqrt(n)/2."""
RESOLUTION_NS = 500.0
"""How far all samples of a measurement may be from the truth by what begins and ends their windows,
which their scatter doesn't show: no interval of several processes is narrower to either side.
Compiled kernels of known times from 1 to 30 us were read 0.5 to 1.4 us too long: what differs
between them is about half of that either way."""
WIDEST = 0.1
"""The widest interval that is ranked at once, if a platform asks for nothing else: half of it, as a
share of the score."""
_TOLERANCE = 1e-9
"""Relative: the last digits of logarithms differ from one machine's library to another's."""
Z95 = 1.96
"""Half of a 95 % interval in standard deviations, if these are known."""
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16)
_T95_MORE = (2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056)
"""Student's t at 97.5 %, by degrees of freedom from 1; beyond these the last one, which is wider
than right."""
_STRETCHES = 4
"""Stretches of the time in which a measurement's samples were taken: long ones, as moments that
follow each other are alike."""
FEWEST_TURNS = 2
"""Turns of all processes from which on stretches of time are compared."""
FEWEST_TURNS_BEFORE = 4
"""The same in results of earlier releases: for `kernelbot verify`, which reads them as well."""
_LAST_LOG = 709.0
"""Natural logarithm of the largest float."""
_LEAST_NS = 1.0
"""Least value of an interval's lower end: single calls may be claimed to have taken no time at
all."""


class TimedMedian(Protocol):
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


@dataclass(frozen=True)
class Spread:
    """How a workload's samples without drift lie about their median; it decides nothing."""

    mean_ns: float
    stdev_ns: float
    best_ns: float
    worst_ns: float


def median_time(
    samples_ns: Sequence[float],
    drift_factors: Sequence[float] = (),
    processes: int = 1,
    fewest_turns: int = FEWEST_TURNS,
) -> MedianTime:
    """What a workload's samples show, that so many processes took in turn. `fewest_turns`: from how
    many on stretches of time are compared. Raises ValueError without samples, and IndexError if
    there are fewer factors than blocks of samples, but any."""
    steady = steady_samples(samples_ns, drift_factors)
    median_ns = statistics.median(steady)
    if processes <= 1:  # as long ago: what was said then stays right
        return MedianTime(median_ns, median_interval(steady))
    told_apart = [max(sample, RESOLUTION_NS) for sample in steady]  # logarithms of less say nothing
    low_ns, high_ns = process_interval(told_apart, processes, fewest_turns)
    low_ns = min(low_ns, max(median_ns - RESOLUTION_NS, min(median_ns, _LEAST_NS)))
    high_ns = max(high_ns, median_ns + RESOLUTION_NS)
    return MedianTime(median_ns, (low_ns, high_ns))


def spread_of(samples_ns: Sequence[float], drift_factors: Sequence[float] = ()) -> Spread:
    """Mean, deviation, best and worst of the samples without drift. It takes what `median_time`
    takes, and raises the same."""
    steady = steady_samples(samples_ns, drift_factors)
    stdev_ns = statistics.stdev(steady) if len(steady) > 1 else 0.0
    return Spread(statistics.fmean(steady), stdev_ns, min(steady), max(steady))


def steady_samples(
    samples_ns: Sequence[float], drift_factors: Sequence[float] = ()
) -> Sequence[float]:
    """The samples, each times its block's factor; as they are without factors."""
    if not drift_factors:
        return samples_ns
    return [
        sample * drift_factors[index // SAMPLES_PER_FACTOR]
        for index, sample in enumerate(samples_ns)
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


def process_interval(
    samples: Sequence[float], processes: int, fewest_turns: int = FEWEST_TURNS
) -> tuple[float, float]:
    """95 % interval of what processes of one kernel take, of which so many were sampled in turn:
    sample i is of process i modulo `processes`. `fewest_turns`: from how many on stretches of time
    are compared.

    Calls of one process depend on each other, and so do calls of one moment. So it is Student's t
    interval of the logarithms of the processes' medians, with the variance of the medians of
    stretches of time, and never less than the interval of the median of all samples. Of one process
    it is that.
    """
    low, high = median_interval(samples)
    count = min(processes, len(samples))
    if count < 2:
        return low, high
    medians = _process_medians(samples, count)
    of_stretches = _stretch_medians(samples, count, fewest_turns)
    if min((*medians, *of_stretches)) <= 0:  # then nothing can be said of shares
        return min(samples), max(samples)
    middle = math.fsum(map(math.log, medians)) / count
    reach = _reach([_log_variance(of_each) for of_each in (medians, of_stretches) if of_each])
    last = min(middle + reach, _LAST_LOG)
    return min(low, math.exp(middle - reach)), max(high, math.exp(last))


def least_width(samples: Sequence[float], processes: int, *, of_moments: bool = False) -> float:
    """How wide `process_interval` will stay, as a share, however often the same processes are
    sampled: what is left of their medians' variance without that of each median. 0 if there is
    nothing left, or too few samples of each to tell. `of_moments`: the same of stretches of time is
    added, as of a machine whose speed goes on changing."""
    count = min(processes, len(samples))
    if count < 2 or len(samples) < FEWEST_FOR_AN_INTERVAL * count or min(samples) <= 0:
        return 0.0
    levels = [[samples[index::count] for index in range(count)]]
    if of_moments:
        levels.append(_stretches(samples, count, FEWEST_TURNS))
    return 2 * _reach([_variance_beyond(parts) for parts in levels])


def _variance_beyond(parts: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The variance of the mean of the parts' medians, in logarithms, beyond that which each median
    has by its own samples, and its degrees of freedom."""
    ends = map(median_interval, parts)
    within = [(math.log(high / low) / (2 * Z95)) ** 2 for low, high in ends]
    logs = [math.log(statistics.median(part)) for part in parts]
    beyond = max(statistics.variance(logs) - math.fsum(within) / len(parts), 0.0)
    return beyond / len(parts), len(parts) - 1


def _process_medians(samples: Sequence[float], processes: int) -> list[float]:
    return [statistics.median(samples[index::processes]) for index in range(processes)]


def _stretch_medians(samples: Sequence[float], processes: int, fewest_turns: int) -> list[float]:
    return [statistics.median(one) for one in _stretches(samples, processes, fewest_turns)]


def _stretches(
    samples: Sequence[float], processes: int, fewest_turns: int
) -> list[Sequence[float]]:
    """Stretches of whole turns, one after another; as many samples as fill no turn are part of the
    last one. None if there are too few turns."""
    turns = len(samples) // processes
    if turns < fewest_turns:
        return []
    count = min(turns, _STRETCHES)
    starts = [processes * (turns * index // count) for index in range(count)]
    ends = [*starts[1:], len(samples)]
    return [samples[a:b] for a, b in zip(starts, ends, strict=True)]


def _log_variance(medians: Sequence[float]) -> tuple[float, int]:
    """The variance of the mean of the medians' logarithms, and its degrees of freedom."""
    return statistics.variance(map(math.log, medians)) / len(medians), len(medians) - 1


def _reach(variances: Sequence[tuple[float, int]]) -> float:
    """Half of the 95 % interval of what has all these variances: Student's t, with the degrees of
    freedom that Welch and Satterthwaite give their sum."""
    together = math.fsum(variance for variance, _ in variances)
    if together <= 0:
        return 0.0
    shares = math.fsum((variance / together) ** 2 / degrees for variance, degrees in variances)
    return _t95(math.floor(1 / shares + 1e-9)) * math.sqrt(together)


def _t95(degrees: int) -> float:
    known = (*_T95, *_T95_MORE)
    return known[min(degrees, len(known)) - 1]


def combine(rule: RankRule, values_s: Sequence[float]) -> float:
    """One number of several. Raises ValueError if a value isn't a finite positive number."""
    if not values_s or not all(math.isfinite(value) and value > 0 for value in values_s):
        raise ValueError("a score needs finite positive times")
    return rule.combine(values_s)


def scoring_workloads(by_phase: Mapping[Phase, Sequence[Workload]]) -> Sequence[Workload]:
    """The workloads that a run's score is made of: the ranked phase's, else the benchmark's."""
    return by_phase.get(Phase.LEADERBOARD) or by_phase.get(Phase.BENCHMARK) or ()


def score(rule: RankRule, workloads: Sequence[TimedMedian]) -> tuple[float, tuple[float, float]]:
    """Score in seconds, and its interval: the rule applied to the ends of the intervals. Raises
    ValueError as `combine`."""
    medians = [workload.median_ns / 1e9 for workload in workloads]
    lows = [max(workload.ci95_ns[0], _LEAST_NS) / 1e9 for workload in workloads]
    highs = [workload.ci95_ns[1] / 1e9 for workload in workloads]
    return combine(rule, medians), (combine(rule, lows), combine(rule, highs))


def is_too_wide(
    score: float, ci95: tuple[float, float], resolution: float, widest: float = WIDEST
) -> bool:
    """Whether the 95 % interval says so little that the score has to be measured again. What no
    measurement can tell of a short kernel doesn't count: measuring again wouldn't help.
    `resolution`: `RESOLUTION_NS` in the unit of the others. `widest`: as `WIDEST`."""
    low, high = ci95
    return high - low > 2 * (widest * score + resolution) * (1 + _TOLERANCE)


def are_same(given: Sequence[float], found: Sequence[float]) -> bool:
    """Whether figures that somebody else has computed are those that were computed here."""
    return len(given) == len(found) and all(
        math.isclose(one, other, rel_tol=_TOLERANCE)
        for one, other in zip(given, found, strict=True)
    )
