from collections.abc import Iterable

import pytest

from kernelbot.harness.timing.warming import Warming


def calls_until_warm(times_ns: Iterable[float]) -> int | None:
    warming = Warming()
    for count, time_ns in enumerate(times_ns, 1):
        warming.add(time_ns)
        if warming.is_over:
            return count
    return None


def test_steady_times_are_seen_at_once() -> None:
    assert 10 == calls_until_warm([20e3, 20.3e3, 19.9e3] * 10)


def test_rising_clocks_are_waited_for() -> None:
    """From 345 MHz to 1,980 MHz in steps, as an H200's."""
    clocks = [345 + step * 80 for step in range(21)] + [1980] * 20
    assert 21 < (calls_until_warm(20e3 * 1980 / mhz for mhz in clocks) or 0) <= 31


@pytest.mark.parametrize("time_ns", [0.0, 1.0, 1e15])
def test_any_time_is_one(time_ns: float) -> None:
    assert 10 == calls_until_warm([time_ns] * 20)


def test_ever_faster_calls_are_never_steady() -> None:
    assert calls_until_warm(0.97**step for step in range(100)) is None
