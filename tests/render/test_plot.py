import math

from kernelbot.render.plot import histogram, sparkline, spread_of


def test_an_even_spread_is_flat() -> None:
    assert "████" == histogram([1, 2, 3, 4], width=4)


def test_empty_bins_are_blank() -> None:
    assert "█   █" == histogram([1, 1, 9, 9], width=5)


def test_one_value_has_no_spread() -> None:
    assert "" == histogram([1.0])


def test_equal_values_are_one_bar() -> None:
    assert "█" == histogram([5.0] * 20)


def test_slow_values_are_counted_and_do_not_hide_the_spread() -> None:
    values = [*(float(i) for i in range(100)), 1e9]
    spread = spread_of(values, 8)
    assert spread is not None
    assert (0.0, 98.0, 2, 1e9) == (spread.low, spread.high, spread.slower, spread.highest)
    assert True is all(spread.heights)
    assert " +2 slower" == histogram(values, width=8)[8:]


def test_a_slow_one_among_equal_values_is_counted() -> None:
    assert "█ +1 slower" == histogram([5.0] * 99 + [9.0])


def test_what_is_not_a_number_is_left_out() -> None:
    assert "██" == histogram([1.0, math.nan, 2.0, math.inf], width=2)


def test_a_sparkline_goes_from_the_least_to_the_greatest() -> None:
    assert ["▁▅█", "▁", "▁▁", "", " ▁█"] == [
        sparkline(values) for values in ([1, 2, 3], [7], [5, 5], [], [float("nan"), 1, 2])
    ]


def test_a_long_sparkline_shows_the_last_values() -> None:
    assert "▁█" == sparkline([100, 1, 2], width=2)
