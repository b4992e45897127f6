"""Exponents of cost against size."""

import pytest
from benchmarks.growth_rules import Curve, Point, first_to_give_way
from hypothesis import given
from hypothesis import strategies as st


def curve(*costs_ms: float, of: str = "a page") -> Curve:
    """With sizes 10, 100, 1000 ..."""
    return Curve("rows", of, tuple(Point(10 ** (n + 1), cost) for n, cost in enumerate(costs_ms)))


@given(st.floats(-1, 3), st.floats(0.01, 1e3))
def test_a_power_law_has_its_exponent(exponent: float, factor: float) -> None:
    drawn = curve(*(factor * 10 ** (n * exponent) for n in range(3)))
    assert drawn.exponent() == pytest.approx(exponent, abs=1e-6)


def test_the_last_two_sizes_count() -> None:
    assert curve(1.0, 1.0, 10.0).exponent() == pytest.approx(1.0)


@pytest.mark.parametrize("costs_ms", [(), (1.0,), (0.0, 1.0), (1.0, 0.0)])
def test_too_little_has_no_exponent(costs_ms: tuple[float, ...]) -> None:
    assert curve(*costs_ms).exponent() is None


def test_twice_the_size_may_cost_twice_as_much() -> None:
    assert [curve(1.0, cost).is_above_linear() for cost in (1.0, 10.0, 100.0)] == [
        False,
        False,
        True,
    ]


def test_the_steepest_gives_way_first() -> None:
    flat, steep = curve(5.0, 5.0), curve(1.0, 30.0, of="a list")
    assert first_to_give_way([flat, steep, curve()]) == steep


def test_nothing_measured_gives_way_nowhere() -> None:
    assert first_to_give_way([curve()]) is None
