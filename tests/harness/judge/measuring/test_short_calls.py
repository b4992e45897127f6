"""How many calls share a window."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from kernelbot.harness.judge.measuring.short_calls import (
    QUICK_S,
    CallLimits,
    calls_in_a_window,
    shortest_s,
)

LIMITS = CallLimits(data_bytes=1000, others_s=0.001, window_s=0.1)


@pytest.mark.parametrize(
    ("time_ns", "arrays", "limits", "expected"),
    [
        (50_000.0, 1, LIMITS, 20),
        (1_000.0, 1, LIMITS, 25),
        (-3_000.0, 1, replace(LIMITS, others_s=0.0), 32),
        (300_000.0, 1, LIMITS, 3),
        (600_000.0, 1, LIMITS, 1),
        (1e12, 1, LIMITS, 1),
        (50_000.0, 1, replace(LIMITS, data_bytes=3 << 20), 2),
        (50_000.0, 1, replace(LIMITS, data_bytes=1 << 40), 1),
        (50_000.0, 0, replace(LIMITS, data_bytes=0), 20),
        (50_000.0, 100, LIMITS, 4),
        (50_000.0, 500, LIMITS, 1),
        (50_000.0, 1, replace(LIMITS, others_s=0.009), 5),
        (50_000.0, 1, replace(LIMITS, window_s=0.01), 5),
        (50_000.0, 1, replace(LIMITS, others_s=20.0), 1),
    ],
)
def test_a_window_is_long_enough_and_costs_little(
    time_ns: float, arrays: int, limits: CallLimits, expected: int
) -> None:
    assert expected == calls_in_a_window(time_ns, arrays, limits)


def taking(*seconds: float) -> tuple[Callable[[], None], list[float]]:
    """Work that takes so long, one time after the other, and what of it is left."""
    left = list(seconds)
    return lambda: time.sleep(left.pop(0)), left


def test_a_wait_does_not_count() -> None:
    work, left = taking(0.2, 0.0, 0.0)
    assert shortest_s(work) < 0.2
    assert [] == left


def test_what_takes_long_is_done_once() -> None:
    work, left = taking(QUICK_S, 0.0)
    assert shortest_s(work) >= QUICK_S
    assert [0.0] == left
