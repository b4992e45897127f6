import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.render.units import (
    interval_text,
    seconds_text,
    size_text,
    time_text,
    to_go_text,
    wait_text,
)


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (0.0, "0 ns"),
        (0.25, "0.25 ns"),
        (1.0, "1.00 ns"),
        (999.4, "999 ns"),
        (999.9, "1.00 µs"),
        (12_345.0, "12.3 µs"),
        (1_234_567.0, "1.23 ms"),
        (2.5e9, "2.50 s"),
        (1.2345e12, "1234 s"),
    ],
)
def test_three_digits_and_the_unit_that_fits(nanoseconds: float, expected: str) -> None:
    assert expected == time_text(nanoseconds)


@given(st.floats(min_value=1.0, max_value=1e12))
def test_no_time_is_shown_more_than_half_a_percent_off(nanoseconds: float) -> None:
    number, unit = time_text(nanoseconds).split(" ")
    size = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}[unit]
    assert abs(float(number) * size - nanoseconds) <= 0.0051 * nanoseconds


def test_seconds_are_shown_alike() -> None:
    assert "1.50 ms" == seconds_text(0.0015)


def test_an_interval_names_a_shared_unit_once() -> None:
    assert "1.00 to 1.20 ms" == interval_text(1e6, 1.2e6)


def test_an_interval_over_two_units_names_both() -> None:
    assert "900 µs to 1.20 ms" == interval_text(9e5, 1.2e6)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (12, "12 bytes"),
        (1000, "0.977 KiB"),
        (1536, "1.5 KiB"),
        (1 << 20, "1 MiB"),
        (1 << 31, "2 GiB"),
        (2000 << 30, "1.95 TiB"),
        (2000 << 40, "2000 TiB"),
    ],
)
def test_sizes(size: int, expected: str) -> None:
    assert expected == size_text(size)


@pytest.mark.parametrize(
    ("wait_s", "expected"),
    [
        (1.0, "1 s"),
        (89.9, "90 s"),
        (90.0, "2 min"),
        (121.0, "3 min"),
        (7199.0, "120 min"),
        (7200.0, "2 h"),
        (7201.0, "3 h"),
    ],
)
def test_a_wait_in_the_unit_that_fits(wait_s: float, expected: str) -> None:
    assert expected == wait_text(wait_s)


@pytest.mark.parametrize(
    ("wait_s", "expected"), [(0.9, "any moment now"), (1.0, "about 1 s to go")]
)
def test_what_is_left_of_a_wait_in_the_queue(wait_s: float, expected: str) -> None:
    assert expected == to_go_text(wait_s)
