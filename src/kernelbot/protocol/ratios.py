"""A duel's figures: the ratio of each pair of calls, its median, and the interval of that.

The harness judges by these rules, and the platform computes by the same.
"""

import statistics
from collections.abc import Sequence

from kernelbot.protocol.rank_rule import RankRule
from kernelbot.protocol.result import DuelResult, DuelWorkload
from kernelbot.protocol.scoring import combine, process_interval

_LEAST_NS = 1.0
"""Single calls may be claimed to have taken no time at all."""


def ratio_of(submission_ns: float, opponent_ns: float) -> float:
    """The ratio of one pair: below 1 if the submission was the faster one."""
    return max(submission_ns, _LEAST_NS) / max(opponent_ns, _LEAST_NS)


def duel_workload(
    spec: str,
    submission_ns: Sequence[float],
    opponent_ns: Sequence[float],
    stopped_by: str,
    processes: int = 1,
) -> DuelWorkload:
    """What the pairs of a workload show, that so many pairs of processes took in turn."""
    pairs = zip(submission_ns, opponent_ns, strict=True)
    ratios = [ratio_of(mine, theirs) for mine, theirs in pairs]
    return DuelWorkload(
        spec=spec,
        submission_ns=tuple(submission_ns),
        opponent_ns=tuple(opponent_ns),
        ratio=statistics.median(ratios),
        ratio_ci95=process_interval(ratios, processes),
        stopped_by=stopped_by,
        processes=processes,
    )


def duel_result(rule: RankRule, workloads: Sequence[DuelWorkload]) -> DuelResult:
    """The ratio of all workloads as the ranking rule makes a score of several, and the same of the
    ends of their intervals."""
    return DuelResult(
        ratio=_overall(rule, workloads, [one.ratio for one in workloads]),
        ratio_ci95=(
            _overall(rule, workloads, [one.ratio_ci95[0] for one in workloads]),
            _overall(rule, workloads, [one.ratio_ci95[1] for one in workloads]),
        ),
        workloads=tuple(workloads),
    )


def _overall(rule: RankRule, workloads: Sequence[DuelWorkload], ratios: Sequence[float]) -> float:
    """A mean of times is dominated by the long ones, so the ratio of two means is the mean of the
    ratios, each weighted by the opponent's time. The others are the rule applied to the ratios."""
    if rule is not RankRule.MEAN:
        return combine(rule, ratios)
    weights = [max(statistics.median(one.opponent_ns), _LEAST_NS) for one in workloads]
    return statistics.fmean(ratios, weights)
