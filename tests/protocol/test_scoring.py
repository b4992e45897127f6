"""Medians and their intervals of samples, and the score of those."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import RankRule
from kernelbot.protocol.scoring import (
    MedianTime,
    combine,
    median_interval,
    median_time,
    score,
    steady_samples,
)

times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


def test_the_interval_of_a_hundred_is_at_the_41st_and_the_61st() -> None:
    assert (40, 61) == median_interval(list(range(1, 101)))


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=200))
def test_the_interval_holds_the_median(samples: list[float]) -> None:
    low, high = median_interval(samples)
    assert low <= statistics.median(samples) <= high


def test_the_interval_covers_the_true_median_nineteen_times_in_twenty() -> None:
    source = random.Random(1)
    hits = 0
    for _ in range(1000):
        low, high = median_interval([source.expovariate(1.0) for _ in range(40)])
        hits += low <= 0.6931 <= high
    assert 940 <= hits <= 990


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=200))
def test_factors_of_one_change_nothing(samples: list[float]) -> None:
    assert median_time(samples) == median_time(samples, [1.0] * (len(samples) // 10 + 1))


def test_ten_samples_share_one_factor() -> None:
    assert [2.0] * 10 + [3.0] == steady_samples([1.0] * 11, [2.0, 3.0])


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
    found = score(RankRule.MEAN, [MedianTime(2e9, (1e9, 3e9)), MedianTime(4e9, (3e9, 7e9))])
    assert (3.0, (2.0, 5.0)) == found


def test_single_calls_may_claim_to_have_taken_no_time() -> None:
    found = score(RankRule.GEOM, [MedianTime(100.0, (0.0, 200.0))])
    assert [pytest.approx(1e-7), pytest.approx((1e-9, 2e-7))] == list(found)
