import math

import pytest

from kernelbot.ranking.rules import widened


def test_without_scatter_an_interval_stays_as_it_is() -> None:
    assert (0.9, 1.3) == widened(1.0, (0.9, 1.3), 0.0)


def test_distances_are_added_as_squares_of_logarithms() -> None:
    low, high = widened(2.0, (2.0 * math.exp(-0.3), 2.0 * math.exp(0.3)), 0.4 / 1.96)
    assert pytest.approx((2.0 * math.exp(-0.5), 2.0 * math.exp(0.5))) == (low, high)


def test_the_sides_are_widened_apart() -> None:
    low, high = widened(1.0, (1.0, math.exp(0.3)), 0.4 / 1.96)
    assert pytest.approx((-0.4, 0.5)) == (math.log(low), math.log(high))


def test_an_end_beyond_the_median_is_as_far_as_the_median() -> None:
    assert widened(1.0, (1.0, 1.0), 0.1) == widened(1.0, (1.1, 0.9), 0.1)


@pytest.mark.parametrize("median", [0.0, -1.0])
def test_no_time_has_no_interval(median: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        widened(median, (0.0, 1.0), 0.1)
