"""What the pairs of a duel show."""

import math

import pytest

from kernelbot.protocol import DuelWorkload, RankRule
from kernelbot.protocol.ratios import duel_result, duel_workload, ratio_of


def ratios_of(first: int, opponent: int) -> DuelWorkload:
    """20 pairs: the submission's calls take a hundredth of the first longer each time."""
    mine_ns = [first + first / 100 * number for number in range(20)]
    return duel_workload("size: 1", mine_ns, [float(opponent)] * 20, "max_samples")


SHORT, LONG = ratios_of(100, 200), ratios_of(600, 600)
"""The order statistics 5 and 16 of 20 bound the interval: 0.52 to 0.575, and 1.04 to 1.15."""


def test_a_workload_has_the_median_of_its_ratios_and_its_interval() -> None:
    found = (SHORT.ratio, *SHORT.ratio_ci95, LONG.ratio, *LONG.ratio_ci95)
    assert pytest.approx((0.5475, 0.52, 0.575, 1.095, 1.04, 1.15)) == found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (RankRule.LAST, (1.095, 1.04, 1.15)),
        (RankRule.GEOM, (math.sqrt(0.5475 * 1.095), math.sqrt(0.52 * 1.04), 0.575 * math.sqrt(2))),
        # The opponent's 200 ns count as much as a third of its 600.
        (RankRule.MEAN, ((0.5475 + 3 * 1.095) / 4, (0.52 + 3 * 1.04) / 4, (0.575 + 3 * 1.15) / 4)),
    ],
)
def test_workloads_and_the_ends_of_their_intervals_are_put_together_as_scores_are(
    rule: RankRule, expected: tuple[float, float, float]
) -> None:
    found = duel_result(rule, [SHORT, LONG])
    assert pytest.approx(expected) == (found.ratio, *found.ratio_ci95)
    assert (SHORT, LONG) == found.workloads


@pytest.mark.parametrize(
    ("mine_ns", "theirs_ns", "expected"), [(3, 2, 1.5), (0, 2, 0.5), (2, 0, 2.0), (0.5, 0.25, 1.0)]
)
def test_no_call_takes_less_than_a_nanosecond(
    mine_ns: float, theirs_ns: float, expected: float
) -> None:
    assert expected == ratio_of(mine_ns, theirs_ns)
