"""Windows that waited for others are no samples, and nobody gains by choosing which do."""

import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.judge.calls.in_place_caller import _excused_ns, _Used
from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.waits import Waits, gains_by_repeating, has_waited
from kernelbot.harness.words.windows import Window

NS = st.integers(0, 10**10)
TIMES = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=40)
PAIRS = st.lists(st.tuples(st.floats(1.0, 1e9), st.floats(1.0, 1e9)), min_size=1, max_size=40)


def window(kept_waiting_ns: int | None = 0, claim_ns: int = 1_000_000) -> Window:
    return Window(claim_ns, claim_ns + 50_000, call_cpu_ns=50_000, kept_waiting_ns=kept_waiting_ns)


@pytest.mark.parametrize(
    ("kept_waiting_ns", "usual_ns", "expected"),
    [
        (50_000, 0.0, False),
        (50_001, 0.0, True),
        (1_000_000, 1e8, False),  # a hundredth of a call changes nothing
        (1_000_001, 1e8, True),
        (None, 0.0, False),  # the system can't tell
    ],
)
def test_a_long_wait_is_one(kept_waiting_ns: int | None, usual_ns: float, expected: bool) -> None:
    assert expected == has_waited(window(kept_waiting_ns), usual_ns)


@given(NS, NS, NS, NS, NS, NS)
def test_how_long_a_window_took_otherwise_decides_nothing(
    kept_waiting_ns: int, usual_ns: int, claim_ns: int, bracket_ns: int, cpu_ns: int, all_ns: int
) -> None:
    one = window(kept_waiting_ns)
    other = replace(
        one,
        claim_ns=claim_ns,
        bracket_ns=bracket_ns,
        call_cpu_ns=cpu_ns,
        call_tree_cpu_ns=all_ns,
        waiting_ns=claim_ns,
    )
    assert has_waited(one, usual_ns) == has_waited(other, usual_ns)


@given(waited_ns=NS, own_ns=NS, main_ns=NS)
def test_waiting_for_ones_own_threads_is_no_wait(waited_ns: int, own_ns: int, main_ns: int) -> None:
    """Whatever else of the runner computes, in threads, children and those that have ended."""
    before = _Used((0,), (0,), 0)
    after = _Used((main_ns,), (waited_ns,), main_ns + own_ns)
    assert max(waited_ns - own_ns, 0) == _excused_ns(before, after)


@given(TIMES, TIMES)
def test_who_is_repeated_can_gain_next_to_nothing(
    samples: list[float], firsts: list[float]
) -> None:
    counted = firsts if gains_by_repeating([samples], [firsts]) else samples
    assert statistics.median(counted) >= statistics.median(firsts) / 1.031


@given(PAIRS, PAIRS)
def test_nor_can_either_side_of_a_duel(
    samples: list[tuple[float, float]], firsts: list[tuple[float, float]]
) -> None:
    chosen = gains_by_repeating([*zip(*samples, strict=True)], [*zip(*firsts, strict=True)])
    ratios = [mine / theirs for mine, theirs in (firsts if chosen else samples)]
    of_firsts = statistics.median(mine / theirs for mine, theirs in firsts)
    assert of_firsts / 1.031 <= statistics.median(ratios) <= of_firsts * 1.031


def test_a_slower_first_window_alone_is_no_gain() -> None:
    assert not gains_by_repeating([[10.0] * 9], [[*([10.0] * 8), 30.0]])


def test_slower_first_windows_are() -> None:
    assert gains_by_repeating([[10.0] * 9], [[*([10.0] * 4), *([30.0] * 5)]])


@pytest.mark.parametrize(
    ("first", "gains"),
    [(102.9, False), (103.0, False), (103.1, True), (97.2, False), (97.0, True)],
)
def test_another_ratio_of_the_first_windows_is_a_gain_of_one_side(
    first: float, gains: bool
) -> None:
    samples, firsts = ([100.0] * 9, [100.0] * 9), ([first] * 9, [100.0] * 9)
    assert gains is gains_by_repeating(samples, firsts)


@pytest.mark.parametrize(("sample", "gains"), [(103.0, False), (103.1, True)])
def test_so_is_a_larger_one_of_the_samples(sample: float, gains: bool) -> None:
    samples, firsts = ([sample] * 9, [100.0] * 9), ([100.0] * 9, [100.0] * 9)
    assert gains is gains_by_repeating(samples, firsts)


@pytest.mark.parametrize(("first", "gains"), [(103.0, False), (103.1, True), (50.0, False)])
def test_of_one_kernel_only_slower_first_windows_are(first: float, gains: bool) -> None:
    assert gains is gains_by_repeating([[100.0] * 9], [[first] * 9])


def test_a_pair_waited_if_one_of_both_did() -> None:
    waits = Waits()
    assert waits.add([window(), window(60_000)], 0.0, again=False)
    assert not waits.add([window(), window()], 0.0, again=True)
    assert (2, 1, 1, True) == (waits.windows, waits.waited, waits.repeated, waits.told)


def test_one_that_the_system_cannot_tell_of_makes_no_claim() -> None:
    waits = Waits()
    waits.add([window(60_000)], 0.0, again=False)
    waits.add([window(None)], 0.0, again=True)
    assert not waits.told


def test_a_wait_is_no_part_of_a_time() -> None:
    control = ControlCalls(on_gpu=False)
    control.add(Window(100, 50_000, call_cpu_ns=40_000, kept_waiting_ns=0))
    baseline = control.baseline()
    waited = Window(
        5_000_000, 5_050_000, waiting_ns=4_000_000, call_cpu_ns=0, kept_waiting_ns=4_000_000
    )
    assert 1_000_000 == baseline.bounded_ns(waited)
    assert 1_050_000 == baseline.bounded_ns(replace(waited, described=True))


def test_but_work_is() -> None:
    """A runner that claims little, and waits as well."""
    control = ControlCalls(on_gpu=False)
    control.add(Window(100, 50_000, call_cpu_ns=40_000, kept_waiting_ns=0))
    liar = Window(
        1, 7_050_000, waiting_ns=4_000_000, call_cpu_ns=3_040_000, kept_waiting_ns=4_000_000
    )
    assert 3_000_000 == control.baseline().bounded_ns(liar)


def test_control_calls_that_waited_change_what_accuses_and_not_what_is_subtracted() -> None:
    control = ControlCalls(on_gpu=False)
    for took_ns, waited_ns in ((50_000, 0), (60_000, 0), (70_000, 0), *[(200_000, 300_000)] * 4):
        control.add(Window(100, took_ns, call_cpu_ns=took_ns, kept_waiting_ns=waited_ns))
    baseline = control.baseline()
    assert (60_000, 150_000) == (baseline.usual.took_ns, baseline.cpu_variation_ns)


def test_those_of_a_machine_that_is_always_busy_have_to_do() -> None:
    control = ControlCalls(on_gpu=False)
    control.add(Window(100, 80_000, kept_waiting_ns=300_000))
    assert 80_000 == control.baseline().usual.took_ns


@pytest.mark.parametrize(
    ("told", "unexplained", "expected"), [(True, 7, 3), (False, 7, 7), (False, 0, None)]
)
def test_control_calls_tell_of_waits_that_the_system_does_not(
    told: bool, unexplained: int, expected: int | None
) -> None:
    waits = Waits(windows=9, waited=3, told=told, unexplained=unexplained)
    assert expected == waits.known
