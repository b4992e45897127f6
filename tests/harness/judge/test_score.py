"""The score of a run."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.judge.score import combine, score
from kernelbot.protocol import RankRule, WorkloadResult

times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


def workload(median_ns: float, low: float, high: float) -> WorkloadResult:
    return WorkloadResult("", (median_ns,), median_ns, median_ns, 0.0, (low, high), low, high)


@given(times)
def test_every_rule_lies_between_the_extremes(values: list[float]) -> None:
    for rule in RankRule:
        combined = combine(rule, values)
        assert min(values) * (1 - 1e-12) <= combined <= max(values) * (1 + 1e-12)


def test_a_product_that_would_underflow_does_not() -> None:
    assert combine(RankRule.GEOM, [1e-9] * 100) == pytest.approx(1e-9)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("rule", list(RankRule))
def test_what_is_no_time_has_no_score(rule: RankRule, bad: float) -> None:
    with pytest.raises(ValueError, match="finite positive"):
        combine(rule, [1.0, bad])


def test_the_interval_is_the_rule_applied_to_the_ends() -> None:
    found = score(RankRule.MEAN, [workload(2e9, 1e9, 3e9), workload(4e9, 3e9, 7e9)])
    assert (3.0, (2.0, 5.0)) == found


def test_single_calls_may_claim_to_have_taken_no_time() -> None:
    found = score(RankRule.GEOM, [workload(100.0, 0.0, 200.0)])
    assert [pytest.approx(1e-7), pytest.approx((1e-9, 2e-7))] == list(found)
