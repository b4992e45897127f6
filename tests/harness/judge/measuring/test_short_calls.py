"""How many calls share a window."""

from dataclasses import replace

import pytest

from kernelbot.harness.judge.measuring.short_calls import CallLimits, calls_in_a_window

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
