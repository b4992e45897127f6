import pytest
from benchmarks.precision import Spread, early_mean


def test_an_early_mean_stops_at_the_first_calm() -> None:
    assert early_mean([1.0, 1.0, 1.0, 9.0, 9.0], 0.01) == 1.0


def test_an_early_mean_of_a_restless_kernel_is_that_of_all() -> None:
    assert early_mean([1.0, 3.0, 1.0, 3.0], 0.001) == 2.0


def test_a_spread_is_relative() -> None:
    spread = Spread.from_scores([1.0, 2.0, 3.0])
    assert (spread.median, spread.deviation, spread.worst_pair) == pytest.approx((2.0, 0.5, 2.0))
