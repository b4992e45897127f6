"""What the clocks say of single windows, and what a few of them count for the others."""

from dataclasses import replace

import pytest

from kernelbot.harness.timing.minority import (
    Counted,
    WindowWork,
    carried_ns,
    costly_calls_note,
    mean_ns,
)
from kernelbot.harness.timing.plausibility import CallBaseline, Overhead
from kernelbot.harness.words.windows import Window

LENIENCY = 1.05
BASELINE = CallBaseline(Overhead(10, 4, 2), Overhead(0, 0, 0), 0, 0, 0)
WINDOW = Window(100, 200, waiting_ns=30, call_cpu_ns=90, call_tree_cpu_ns=400, processors=4)
"""Its threads computed for 392 ns beyond a control call's, on four processors in 160."""
DESCRIBED = replace(WINDOW, described=True)
OUTSIDE = replace(
    WINDOW, build_cpu_ns=100_001, still_cpu_ns=100_002, after_cpu_ns=100_003, outside_ns=10**9
)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (WINDOW, WindowWork(160, 100, 60, 0.0, 100)),
        (replace(WINDOW, call_tree_cpu_ns=150), WindowWork(160, 100, 42, 0.0, 100)),
        (replace(WINDOW, call_tree_cpu_ns=0), WindowWork(160, 86, 0, 0.0, 100)),
        (Window(3, 5), WindowWork(3, 0, 0, 0.0, 3)),
        (DESCRIBED, WindowWork(200, 170, 0.0, 0.0, 0.0)),
        (replace(DESCRIBED, kept_waiting_ns=50), WindowWork(150, 150, 0.0, 0.0, 0.0)),
        (OUTSIDE, WindowWork(160, 100, 60, 6.0, 100)),
        (replace(OUTSIDE, outside_tree_cpu_ns=300_013), WindowWork(160, 100, 60, 11.0, 100)),
    ],
    ids=["threads", "fewer", "none", "nothing", "described", "waited", "beside", "helpers"],
)
def test_a_window_did_what_was_both_claimed_and_computed(
    window: Window, expected: WindowWork
) -> None:
    assert expected == WindowWork.from_window(window, BASELINE, helpers_ns=2.0)


def test_a_window_without_helpers_has_no_work_of_theirs() -> None:
    assert 0.0 == WindowWork.from_window(WINDOW, BASELINE, helpers_ns=0.0).beside_ns


def works(*certain_ns: float, times: float = 1.0) -> list[WindowWork]:
    return [WindowWork(one, one, claim_ns=times * one) for one in certain_ns]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (works(1, times=1) + works(1, times=2) + works(1, times=3), 1 + 1),
        (works(1, times=1) + works(9, times=3), 5 + 2 * 5),
        (works(2, 4, times=0.5), 3),
        ([WindowWork(0, 0, beside_ns=105)] * 4, 105),
        ([WindowWork(30, 10)] * 2, 10 + 20),
    ],
)
def test_work_has_as_much_waiting_as_half_of_all_work_had(
    found: list[WindowWork], expected: float
) -> None:
    assert pytest.approx(expected / LENIENCY) == mean_ns(found, 0.0)


def test_what_a_few_did_is_carried_by_all_of_their_quarter() -> None:
    first, second, *others = carried_ns([*works(4000, 1), *works(*[1] * 6)], 0.0)
    assert (True, True, 1) == (first == second, first > others[0] > 0, len(set(others)))


def test_a_quarter_that_did_little_carries_nothing_rather_than_less_than_it_took() -> None:
    heavy, light = (1000, 1), (1, 1)
    carried = carried_ns(works(*heavy, *heavy, *heavy, *light), 0.0)
    assert ([0.0, 0.0], True) == (carried[6:], min(carried[:6]) > 0)


@pytest.mark.parametrize("count", [2, 3])
def test_of_a_few_calls_there_are_no_quarters(count: int) -> None:
    carried = carried_ns(works(1000, *[1] * (count - 1)), 0.0)
    assert (1, count) == (len(set(carried)), len(carried))


def test_samples_are_raised_to_the_mean_and_never_lowered() -> None:
    assert [5.0, 10.0] == Counted([[10.0, 20.0]], 1.0).samples_ns([[0, 1]], 2)
    assert [10.0, 15.0] == Counted([[10.0, 20.0]], 25.0).samples_ns([[0, 1]], 2)
    assert [] == Counted([[]], 5.0).samples_ns([[]], 1)


def test_a_tenth_more_is_told() -> None:
    notes = [costly_calls_note("n: 1", [1.0], [counted]) for counted in (1.099, 1.1)]
    assert [False, True] == [note is not None for note in notes]
