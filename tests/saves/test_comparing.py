import math

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.saves.comparing import SpeedChange, by_intervals

OPPOSITE = {
    SpeedChange.FASTER: SpeedChange.SLOWER,
    SpeedChange.SLOWER: SpeedChange.FASTER,
    SpeedChange.UNKNOWN: SpeedChange.UNKNOWN,
}
intervals = st.tuples(st.floats(0, 1e12), st.floats(0, 1e12)).map(
    lambda ends: (min(ends), max(ends))
)


@given(intervals, intervals)
def test_the_other_way_round_is_the_opposite(
    first: tuple[float, float], second: tuple[float, float]
) -> None:
    assert OPPOSITE[by_intervals(first, second)] is by_intervals(second, first)


@given(intervals)
def test_nothing_is_faster_than_itself(interval: tuple[float, float]) -> None:
    assert SpeedChange.UNKNOWN is by_intervals(interval, interval)


def test_what_is_not_a_number_tells_nothing() -> None:
    assert SpeedChange.UNKNOWN is by_intervals((1.0, 2.0), (math.nan, math.nan))
