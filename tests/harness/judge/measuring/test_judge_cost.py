"""What making data and checking outputs costs."""

import time
from collections.abc import Callable

from kernelbot.harness.judge.measuring.judge_cost import QUICK_S, JudgeCost, least_cost


def taking(*seconds: float) -> tuple[Callable[[], None], list[float]]:
    """Work that takes so long, one time after the other, and what of it is left."""
    left = list(seconds)
    return lambda: time.sleep(left.pop(0)), left


def clock(*readings_ns: int) -> Callable[[], int]:
    """A processor's clock, read before and after each work."""
    left = list(readings_ns)
    return lambda: left.pop(0)


def test_it_is_the_least_of_three() -> None:
    work, left = taking(0.0, 0.0, 0.0)
    found = least_cost(work, clock(0, 5_000_000, 5_000_000, 7_000_000, 7_000_000, 11_000_000))
    assert (0.002, []) == (found.computed_s, left)


def test_waiting_is_no_processor_time() -> None:
    """As on a busy machine, where each time is many times as long as on an idle one."""
    work, _ = taking(0.05, 0.05, 0.05)
    found = least_cost(work, time.thread_time_ns)
    assert (True, True) == (found.took_s >= 0.05, found.computed_s < 0.05)


def test_what_takes_long_is_done_once() -> None:
    work, left = taking(QUICK_S, 0.0)
    assert least_cost(work, clock(0, 0)).took_s >= QUICK_S
    assert [0.0] == left


def test_the_less_of_both_is_that_of_each() -> None:
    one, other = JudgeCost(1.0, 0.2), JudgeCost(2.0, 0.1)
    assert (one, JudgeCost(1.0, 0.1)) == (one.or_less(None), one.or_less(other))
