"""What the judge's clocks may and may not conclude."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.crosscheck import Baseline, below_floor
from kernelbot.harness.windows import Window
from kernelbot.protocol import DeviceSpec, Floor, Vendor

US = 1_000
QUIET = Window(claim_ns=US, bracket_ns=250 * US, call_cpu_ns=201 * US)
"""A call that does nothing: 200 us are the harness's own."""


def a_call(claim_us: int, took_us: int | None = None) -> Window:
    """A call of `took_us` on the processor that claims `claim_us`."""
    took = claim_us if took_us is None else took_us
    return Window(claim_us * US, (took + 249) * US, call_cpu_ns=(took + 200) * US)


def quiet() -> Baseline:
    return Baseline.of([QUIET] * 10, parts=1)


def test_an_honest_claim_is_left_alone() -> None:
    windows = [a_call(50)] * 20
    assert (None, 50 * US) == (
        quiet().contradiction(windows, 1),
        quiet().bounded_ns(windows[0], 1),
    )


@given(st.lists(st.integers(0, 2_000), min_size=20, max_size=60), st.integers(1, 10_000))
def test_a_busy_machine_accuses_nobody(delays_us: list[int], claim_us: int) -> None:
    """Whatever the harness's own part costs, it costs the control calls as much."""
    slow = [replace(QUIET, call_cpu_ns=(201 + delay) * US) for delay in delays_us]
    calls = [
        replace(a_call(claim_us), call_cpu_ns=(claim_us + 200 + delay) * US) for delay in delays_us
    ]
    assert Baseline.of(slow, parts=1).contradiction(calls, 1) is None


def test_a_big_lie_is_refused_with_its_numbers() -> None:
    found = quiet().contradiction([a_call(1, took_us=3_000)] * 20, 1)
    assert found is not None
    assert "seen 3199.0 us" in found.evidence


def test_a_lie_too_small_to_refuse_is_worth_next_to_nothing() -> None:
    windows = [a_call(700, took_us=1_000)] * 20
    assert (None, 930 * US) == (
        quiet().contradiction(windows, 1),
        quiet().bounded_ns(windows[0], 1),
    )


def test_time_asleep_counts_unless_the_processor_was_taken_away() -> None:
    asleep = Window(claim_ns=US, bracket_ns=50_000 * US, call_cpu_ns=201 * US)
    displaced = replace(asleep, waiting_ns=49_750 * US)
    assert (49_351 * US, US) == (quiet().bounded_ns(asleep, 1), quiet().bounded_ns(displaced, 1))


def test_the_work_of_helpers_counts_while_the_main_thread_sleeps() -> None:
    helped = replace(a_call(1), call_tree_cpu_ns=1_401 * US)
    shared = replace(helped, processors=2)
    assert (1_131 * US, 430_500) == (quiet().bounded_ns(helped, 1), quiet().bounded_ns(shared, 1))


def test_of_a_small_lie_all_but_the_slack_is_added_back() -> None:
    windows = [a_call(40, took_us=100)] * 20
    assert 95 * US == quiet().least_median_ns(windows, 1)


def test_lies_in_half_of_the_calls_gain_nothing_at_the_median() -> None:
    honest, lying = a_call(100), a_call(1, took_us=100)
    assert 95 * US == quiet().least_median_ns([honest, lying] * 10, 1)


def test_honest_calls_are_never_below_what_the_clocks_leave() -> None:
    """The control calls are the dearer ones, as each wakes a colder process."""
    control = [replace(QUIET, call_cpu_ns=(201 + cold) * US) for cold in range(20)]
    assert 50 * US >= Baseline.of(control, parts=1).least_median_ns([a_call(50)] * 20, 1)


def test_noise_in_the_control_calls_is_the_authors_gain() -> None:
    noisy = [replace(QUIET, call_cpu_ns=201 * US + 80 * US * (i % 2)) for i in range(20)]
    baseline = Baseline.of(noisy, parts=1)
    assert 15 * US == baseline.least_median_ns([replace(a_call(100), bracket_ns=0)] * 20, 1)


def test_more_control_calls_leave_less_to_gain() -> None:
    windows = [replace(a_call(100), bracket_ns=0)] * 20
    noisy = [replace(QUIET, call_cpu_ns=(190 + i % 21) * US) for i in range(210)]
    least_ns = [Baseline.of(noisy[:n], parts=1).least_median_ns(windows, 1) for n in (21, 210)]
    assert least_ns[0] < least_ns[1] < 100 * US


@pytest.mark.parametrize(("took_us", "little"), [(50, False), (2_000, True)])
def test_of_a_long_call_a_small_lie_is_little(took_us: int, little: bool) -> None:
    assert little == quiet().leaves_little_to_gain([a_call(took_us)] * 20, 1)


def test_few_calls_have_no_median_to_speak_of() -> None:
    assert quiet().least_median_ns([a_call(1, took_us=100)] * 4, 1) == 0.0


def test_few_calls_accuse_nobody() -> None:
    assert quiet().contradiction([a_call(1, took_us=3_000)] * 4, 1) is None


def test_no_call_takes_no_time() -> None:
    found = quiet().contradiction([a_call(0)], 1)
    assert found is not None
    assert "impossible" in found.message


def test_many_values_may_take_longer_to_describe() -> None:
    windows = [replace(a_call(10), call_cpu_ns=1_000 * US)] * 20
    baseline = quiet()
    assert baseline.contradiction(windows, 1) is not None
    assert baseline.contradiction(windows, 10) is None


def test_the_floor_is_the_larger_of_work_and_traffic() -> None:
    device = DeviceSpec("CPU", Vendor.CPU, peak_flops=1e12, peak_bytes_per_s=1e10)
    floor = Floor(flops=1e9, memory_bytes=1e8)
    assert below_floor(floor, device, 10.1e6) is None
    found = below_floor(floor, device, 9.9e6)
    assert found is not None
    assert "floor 10000.000 us" in found.evidence


def test_on_a_gpu_the_wall_leaves_less_to_gain() -> None:
    """Its processor may sleep while the GPU works, and is charged for nothing then."""
    lie = replace(QUIET, bracket_ns=(250 + 1_000) * US)
    on_gpu = Baseline.of([QUIET] * 10, parts=1, on_gpu=True)
    assert (601 * US, 951 * US) == (quiet().bounded_ns(lie, 1), on_gpu.bounded_ns(lie, 1))


def test_the_harness_part_in_every_rank_is_nobodys_work() -> None:
    """Two ranks on one processor: their main threads cost 200 us each beside the kernel."""
    quiet_ranks = replace(QUIET, call_tree_cpu_ns=401 * US, bracket_ns=450 * US)
    baseline = Baseline.of([quiet_ranks] * 10, parts=1)
    calls = [Window(1_000 * US, 1_449 * US, call_cpu_ns=700 * US, call_tree_cpu_ns=1_400 * US)] * 20
    assert 1_000 * US == baseline.bounded_ns(calls[0], 1)
    assert baseline.least_median_ns(calls, 1) <= 1_000 * US


def test_work_that_another_rank_did_counts() -> None:
    quiet_ranks = replace(QUIET, call_tree_cpu_ns=401 * US, bracket_ns=450 * US)
    lie = Window(100 * US, 2_449 * US, call_cpu_ns=1_200 * US, call_tree_cpu_ns=2_400 * US)
    assert Baseline.of([quiet_ranks] * 10, parts=1).bounded_ns(lie, 1) >= 1_850 * US
