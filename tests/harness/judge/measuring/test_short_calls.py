"""How many calls share a window."""

from dataclasses import replace

import pytest

from kernelbot.harness.judge.measuring.short_calls import (
    CallLimits,
    calls_in_a_window,
    fill_windows,
)
from kernelbot.harness.judge.measuring.timed_runner import Samples
from kernelbot.harness.timing.plausibility import CallBaseline, Overhead
from kernelbot.harness.words.windows import Reply, Window

LIMITS = CallLimits(data_bytes=1000, others_s=0.001, window_s=0.1)


@pytest.mark.parametrize(
    ("time_ns", "arrays", "limits", "expected"),
    [
        (50_000.0, 1, LIMITS, 20),
        (1_000.0, 1, LIMITS, 32),
        (-3_000.0, 1, replace(LIMITS, others_s=0.0), 32),
        (300_000.0, 1, LIMITS, 3),
        (600_000.0, 1, LIMITS, 1),
        (500_000.0, 1, LIMITS, 2),
        (500_000.5, 1, LIMITS, 1),
        (50_000.0, 1, replace(LIMITS, data_bytes=4 << 20), 2),
        (50_000.0, 1, replace(LIMITS, data_bytes=(4 << 20) + 1), 1),
        (1e12, 1, LIMITS, 1),
        (50_000.0, 1, replace(LIMITS, data_bytes=3 << 20), 2),
        (50_000.0, 1, replace(LIMITS, data_bytes=1 << 40), 1),
        (50_000.0, 0, replace(LIMITS, data_bytes=0), 20),
        (50_000.0, 100, LIMITS, 4),
        (50_000.0, 500, LIMITS, 1),
        (50_000.0, 1, replace(LIMITS, others_s=0.009), 8),
        (50_000.0, 1, replace(LIMITS, window_s=0.01), 4),
        (50_000.0, 1, replace(LIMITS, others_s=20.0), 1),
    ],
)
def test_a_window_is_long_enough_and_costs_little(
    time_ns: float, arrays: int, limits: CallLimits, expected: int
) -> None:
    assert expected == calls_in_a_window(time_ns, arrays, limits)


@pytest.mark.parametrize("others_s", [0.0, 0.001, 0.002, 0.003])
def test_a_little_more_for_data_and_checks_changes_nothing(others_s: float) -> None:
    """Scores of one kernel are to be means of as many calls, whenever it is judged."""
    assert 32 == calls_in_a_window(1_000.0, 1, replace(LIMITS, others_s=others_s))


FREE = CallBaseline(Overhead(0, 0, 0), Overhead(0, 0, 0), 0, 0, 0)


def filled(
    *alone_us: int, real_us: int, shared: bool = False, disturbed: int = 0
) -> tuple[int, list[int]]:
    """How many calls share a window of a kernel whose calls took so long while they warmed it up,
    and take so long in windows; and how many were tried. `disturbed`: so many of the first tries
    take ten times as long."""
    one = Samples.__new__(Samples)
    one.calls, one.unsampled = 1, []
    tried = list[int]()

    def take(time_us: int, calls: int) -> None:
        one.unsampled.append(Window(time_us * 1000, time_us * 1000))
        one.latest = Reply(None, one.unsampled[-1], 0, aliased=False, parts=calls, shared=shared)

    def try_window(calls: int) -> None:
        tried.append(calls)
        one.hold_in_windows(calls)
        for _ in range(2):
            take(real_us * calls * (10 if len(tried) <= disturbed else 1), calls)

    for time_us in alone_us:
        take(time_us, 1)
    calls = fill_windows([one], lambda: one.quick_ns(FREE), LIMITS, try_window)
    assert calls == one.calls
    return calls, tried


@pytest.mark.parametrize(
    ("alone_us", "real_us", "expected"),
    [
        ((50, 50, 50, 50), 50, (20, [20])),
        ((400, 90, 90, 90), 50, (21, [11, 21])),
        ((50, 50, 50, 5_000), 50, (20, [20])),
        ((700, 700, 700, 700), 700, (1, [])),
        ((2, *[5_000] * 59), 5_000, (1, [])),
        ((2, 2, 2, 5_000), 5_000, (1, [32, 32])),
        ((2, 2, 2, 200), 200, (4, [32, 32, 4])),
        ((2, 2, 2, 2), 400, (2, [32, 32, 2])),
        ((2, 2, 2, 2), 60, (16, [32, 32, 16])),
        ((2, 2, 2, 2), 55, (32, [32])),
    ],
    ids=[
        "short",
        "cold first",
        "one waits",
        "long",
        "one did less",
        "many did less",
        "a part",
        "two",
        "half",
        "more than half",
    ],
)
def test_windows_hold_what_their_calls_take_and_not_what_a_few_took(
    alone_us: tuple[int, ...], real_us: int, expected: tuple[int, list[int]]
) -> None:
    """What a kernel does while it warms up is hardly looked at."""
    assert expected == filled(*alone_us, real_us=real_us)


def test_a_try_that_was_disturbed_is_repeated_before_fewer_calls_share_a_window() -> None:
    assert (32, [32, 32]) == filled(2, 2, 2, 2, real_us=20, disturbed=1)


def test_what_such_a_try_shows_is_without_the_first_call() -> None:
    assert (16, [32, 32, 16]) == filled(31, 31, 31, 31, real_us=61, disturbed=1)


def test_outputs_that_share_memory_are_taken_one_by_one() -> None:
    assert (1, [20]) == filled(50, 50, 50, 50, real_us=50, shared=True)
