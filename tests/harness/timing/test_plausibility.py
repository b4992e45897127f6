"""What the judge's clocks may and may not conclude."""

import statistics
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.plausibility import (
    CallBaseline,
    below_floor,
    disturbance,
)
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import DeviceSpec, Floor, NumberType, Peak, Vendor

US = 1_000
MARKS = Window(claim_ns=US, bracket_ns=30 * US, call_cpu_ns=20 * US, call_tree_cpu_ns=20 * US)
"""The cheapest answer: 30 us from look to look, 20 us of them computing."""


def a_call(claim_us: int, took_us: int | None = None) -> Window:
    """A call of `took_us` on the processor that claims `claim_us`."""
    took = claim_us if took_us is None else took_us
    cpu_ns = (took + 20) * US
    return Window(claim_us * US, (took + 30) * US, call_cpu_ns=cpu_ns, call_tree_cpu_ns=cpu_ns)


def baseline_of(
    calls: Iterable[Window], *, on_gpu: bool = False, share: float = 1.0
) -> CallBaseline:
    seen = ControlCalls(on_gpu=on_gpu)
    for call in calls:
        seen.add(call)
    return seen.baseline(share)


def quiet() -> CallBaseline:
    return baseline_of([MARKS] * 10)


def test_an_honest_claim_is_left_alone() -> None:
    windows = [a_call(50)] * 20
    assert (None, 50 * US) == (quiet().contradiction(windows), quiet().bounded_ns(windows[0]))


@pytest.mark.parametrize("took_us", [20, 35, 100, 237, 700])
def test_a_claim_of_next_to_nothing_gains_nothing(took_us: int) -> None:
    assert took_us * US == quiet().bounded_ns(a_call(1, took_us))


def test_a_longer_call_is_no_contradiction_where_control_calls_take_longer_too() -> None:
    """As in a job of Slurm's without control groups, or in a virtual machine."""
    held_up = [replace(a_call(92), bracket_ns=1_200 * US)] * 12
    busy = [MARKS] * 8 + [replace(MARKS, bracket_ns=1_100 * US)] * 2
    assert (None, 1_170 * US) == (
        baseline_of(busy).contradiction(held_up),
        baseline_of(busy).bounded_ns(held_up[0]),
    )
    assert quiet().contradiction(held_up) is not None


def test_the_median_answer_is_subtracted_and_the_cheapest_accuse() -> None:
    costlier = [replace(MARKS, bracket_ns=(30 + more) * US) for more in range(20)]
    baseline = baseline_of(costlier)
    assert (40 * US, 32 * US) == (baseline.usual.took_ns, baseline.least.took_ns)


def test_an_honest_call_is_read_as_long_as_it_took_however_much_control_calls_vary() -> None:
    noise_us = [0, 5, 10, 20, 60]
    control = baseline_of([replace(MARKS, bracket_ns=(30 + more) * US) for more in noise_us * 8])
    calls = [replace(a_call(50), bracket_ns=(80 + more) * US) for more in noise_us * 8]
    assert 50 * US == statistics.median(map(control.bounded_ns, calls))


def test_so_is_one_that_claims_next_to_nothing() -> None:
    noise_us = [0, 5, 10, 20, 60]
    control = baseline_of([replace(MARKS, bracket_ns=(30 + more) * US) for more in noise_us * 8])
    lies = [replace(a_call(1, 50), bracket_ns=(80 + more) * US) for more in noise_us * 8]
    assert 50 * US == statistics.median(map(control.bounded_ns, lies))


def test_the_order_of_control_calls_does_not_matter() -> None:
    costlier = [replace(MARKS, bracket_ns=(30 + more) * US) for more in range(20)]
    assert baseline_of(costlier) == baseline_of(reversed(costlier))


@given(st.lists(st.integers(0, 2_000), min_size=20, max_size=60), st.integers(1, 10_000))
def test_waiting_for_a_processor_accuses_nobody(delays_us: list[int], claim_us: int) -> None:
    calls = [
        replace(
            a_call(claim_us),
            bracket_ns=(claim_us + 30 + delay) * US,
            waiting_ns=delay * US,
        )
        for delay in delays_us
    ]
    assert quiet().contradiction(calls) is None
    assert {claim_us * US} == {quiet().bounded_ns(call) for call in calls}


def test_a_big_lie_is_refused_with_its_numbers() -> None:
    found = quiet().contradiction([a_call(1, took_us=3_000)] * 20)
    assert found is not None
    assert "seen 2999.0 us" in found.evidence


def test_what_the_machine_adds_to_control_calls_as_well_counts_and_accuses_nobody() -> None:
    slowed = replace(MARKS, call_cpu_ns=200 * US, call_tree_cpu_ns=200 * US)
    windows = [replace(a_call(70), call_cpu_ns=210 * US, call_tree_cpu_ns=210 * US)] * 20
    busy = baseline_of([MARKS, MARKS, slowed] * 10)
    assert (True, None, 190 * US) == (
        quiet().contradiction([replace(windows[0], claim_ns=US)] * 20) is not None,
        busy.contradiction(windows),
        busy.bounded_ns(windows[0]),
    )


def test_time_asleep_counts_unless_the_processor_was_taken_away() -> None:
    asleep = replace(MARKS, bracket_ns=50_000 * US)
    displaced = replace(asleep, waiting_ns=49_970 * US)
    assert (49_970 * US, US) == (quiet().bounded_ns(asleep), quiet().bounded_ns(displaced))


def test_work_after_the_mark_counts() -> None:
    assert 70 * US == quiet().bounded_ns(replace(a_call(1), call_cpu_ns=90 * US))


def test_the_work_of_helpers_counts_while_the_main_thread_sleeps() -> None:
    helped = replace(MARKS, call_tree_cpu_ns=1_420 * US)
    shared = replace(helped, processors=2)
    assert (1_400 * US, 690 * US) == (quiet().bounded_ns(helped), quiet().bounded_ns(shared))


def test_of_a_call_that_had_to_be_described_nothing_is_subtracted() -> None:
    described = replace(a_call(50), bracket_ns=400 * US, described=True)
    assert (None, 400 * US) == (
        quiet().contradiction([described] * 20),
        quiet().bounded_ns(described),
    )


def test_work_before_the_call_is_refused() -> None:
    found = quiet().contradiction([replace(a_call(50), build_cpu_ns=500 * US)] * 20)
    assert found is not None
    assert "before the call" in found.message


def test_so_is_work_after_it_and_so_is_time_in_which_others_may_work() -> None:
    honest = replace(MARKS, after_cpu_ns=200 * US, outside_ns=1_000 * US)
    control = baseline_of([honest] * 10)
    worked = replace(a_call(50), after_cpu_ns=600 * US)
    waited = replace(a_call(50), outside_ns=4_000 * US)
    found = [control.contradiction([call] * 20) for call in (honest, worked, waited)]
    told = [one.message.split(": ")[1] for one in found if one is not None]
    assert (None, True, True) == (
        found[0],
        told[0].startswith("work after the call"),
        told[1].startswith("time before and after the call"),
    )


def test_an_output_of_many_arrays_takes_longer_to_describe() -> None:
    calls = [replace(a_call(50), after_cpu_ns=600 * US)] * 20
    one = baseline_of([replace(MARKS, after_cpu_ns=200 * US)] * 10)
    eight = baseline_of([replace(MARKS, after_cpu_ns=200 * US)] * 10, share=2.75)
    assert (True, None) == (one.contradiction(calls) is not None, eight.contradiction(calls))


def test_a_call_that_counts_until_it_is_described_may_not_be_prepared_either() -> None:
    described = replace(a_call(50), bracket_ns=400 * US, described=True)
    found = quiet().contradiction([replace(described, build_cpu_ns=500 * US)] * 20)
    assert found is not None
    assert "before the call" in found.message


def test_claims_that_hardly_differ_while_the_clock_does_are_suspicious() -> None:
    lies = [a_call(1, took_us=100 + number) for number in range(40)]
    # Of 100 to 139 us the middle half is within 20 us, and the median is 119.5 us: one is claimed.
    expected = (
        "the claims' middle half lies within 0.00 us, that of the judge's clock within 20.0 us, "
        "and 118.5 us were added."
    )
    assert expected == quiet().suspicion(lies)


def test_claims_that_differ_as_the_clock_does_are_not() -> None:
    assert quiet().suspicion([a_call(100 + number) for number in range(40)]) is None


def test_steady_claims_on_a_busy_machine_are_not() -> None:
    busy = baseline_of([replace(MARKS, bracket_ns=(30 + n) * US) for n in range(40)])
    calls = [replace(a_call(100), bracket_ns=(130 + number) * US) for number in range(40)]
    assert busy.suspicion(calls) is None


def test_a_process_that_starts_beside_the_first_calls_makes_nobody_suspicious() -> None:
    """As Python's tracker of shared memory does, with a fifth of a second of its own."""
    quick = [replace(a_call(320 + n % 7), bracket_ns=400 * US) for n in range(12)]
    slow = [
        replace(
            one,
            bracket_ns=(1_400 + 500 * n) * US,
            call_tree_cpu_ns=one.call_cpu_ns + (1_000 + 500 * n) * US,
        )
        for n, one in enumerate(quick[:8])
    ]
    assert quiet().suspicion(slow + quick) is None


@given(st.lists(st.integers(0, 2_000), min_size=20, max_size=60))
def test_time_that_others_took_makes_nobody_suspicious(delays_us: list[int]) -> None:
    calls = [replace(a_call(100), bracket_ns=(150 + delay) * US) for delay in delays_us]
    assert quiet().suspicion(calls) is None


def test_a_gpus_clock_may_run_a_little_fast() -> None:
    second = replace(MARKS, claim_ns=1_000_050 * US, bracket_ns=1_000_000 * US)
    more = replace(second, claim_ns=1_001_000 * US)
    idle = baseline_of([MARKS] * 10, on_gpu=True)
    assert (None, True) == (idle.contradiction([second]), idle.contradiction([more]) is not None)


def test_on_a_gpu_the_time_is_all_there_is_to_compare() -> None:
    calls = [replace(a_call(1), bracket_ns=(2_000 + number) * US) for number in range(40)]
    idle = baseline_of([MARKS] * 10, on_gpu=True)
    assert (None, True) == (quiet().suspicion(calls), idle.suspicion(calls) is not None)


def test_few_calls_accuse_nobody() -> None:
    assert quiet().contradiction([a_call(1, took_us=3_000)] * 4) is None


def test_no_call_takes_no_time() -> None:
    found = quiet().contradiction([a_call(0)])
    assert found is not None
    assert "impossible" in found.message


def test_the_floor_is_the_larger_of_work_and_traffic() -> None:
    device = DeviceSpec("CPU", Vendor.CPU, peak_flops=1e12, peak_bytes_per_s=1e10)
    floor = Floor(flops=1e9, memory_bytes=1e8)
    assert below_floor(floor, device, 10.1e6) is None
    found = below_floor(floor, device, 9.9e6)
    assert found is not None
    assert "floor 10000.000 us" in found.evidence


@pytest.mark.parametrize(
    ("floor", "cache_bytes", "median_ns"),
    [
        (Floor(memory_bytes=58.7e6), 126 << 20, 5_000.0),
        (Floor(memory_bytes=24 << 20), 50 << 20, 6_000.0),
        (Floor(flops=2 * 8192**3, number_type=NumberType.FP8), None, 300_000.0),
        (Floor(flops=2 * 8192**3), None, 150_000.0),
    ],
    ids=["gemv on a B200", "vectors on an H100", "fp8", "any type"],
)
def test_an_honest_time_is_above_the_floor(
    floor: Floor, cache_bytes: int | None, median_ns: float
) -> None:
    peaks = Peak(NumberType.FP8, 4.5e15), Peak(NumberType.FP4, 9e15), Peak(NumberType.BF16, 2.2e15)
    device = DeviceSpec(
        "B200", Vendor.NVIDIA, peak_bytes_per_s=8e12, peaks=peaks, cache_bytes=cache_bytes
    )
    assert below_floor(floor, device, median_ns) is None


@pytest.mark.parametrize(
    ("number_type", "floor_us"),
    [(NumberType.FP8, 250), (NumberType.FP64, 1000), (None, 250)],
    ids=["its own", "the rest's", "the largest"],
)
def test_operations_take_at_least_what_the_peak_of_their_type_says(
    number_type: NumberType | None, floor_us: int
) -> None:
    peaks = (Peak(NumberType.FP8, 4e15),)
    device = DeviceSpec("A", Vendor.NVIDIA, peak_flops=1e15, peaks=peaks)
    found = below_floor(Floor(flops=1e12, number_type=number_type), device, 1.0)
    assert found is not None
    assert f"floor {floor_us}.000 us" in found.evidence


def test_of_a_floors_bytes_only_those_beyond_the_cache_count() -> None:
    device = DeviceSpec("A", Vendor.NVIDIA, peak_bytes_per_s=1e12, cache_bytes=10**8)
    found = below_floor(Floor(memory_bytes=1.5e8), device, 49_000.0)
    assert found is not None
    assert "floor 50.000 us" in found.evidence


def test_on_a_gpu_a_call_ends_with_a_message() -> None:
    """Of which the harness's own cost is known less well."""
    lie = Window(US, (250 + 1_000) * US, call_cpu_ns=201 * US)
    usual = baseline_of([replace(lie, bracket_ns=250 * US)] * 10, on_gpu=True)
    assert 951 * US == usual.bounded_ns(lie)


def test_on_a_gpu_an_answer_of_many_values_may_cost_more() -> None:
    control = Window(US, 250 * US, call_cpu_ns=201 * US)
    call = Window(10 * US, 550 * US, call_cpu_ns=510 * US)
    few, many = (
        baseline_of([control] * 10, on_gpu=True, share=share).bounded_ns(call)
        for share in (1.0, 2.0)
    )
    assert (251 * US, 10 * US) == (few, many)


def test_work_that_another_rank_did_counts() -> None:
    ranks = baseline_of([replace(MARKS, call_tree_cpu_ns=40 * US)] * 10)
    lie = Window(100 * US, 2_400 * US, call_cpu_ns=1_200 * US, call_tree_cpu_ns=2_400 * US)
    assert 2_370 * US == ranks.bounded_ns(lie)


QUIET_NS = [float(100 * US + place % 7 * US) for place in range(40)]


def test_a_kernel_that_stands_still_disturbs_nobody() -> None:
    assert disturbance(0.0, QUIET_NS, QUIET_NS) is None


def test_nor_does_a_noisy_machine() -> None:
    noisy = [one * (20 if place % 5 == 0 else 1) for place, one in enumerate(QUIET_NS)]
    assert disturbance(0.0, noisy, noisy[::-1]) is None


def test_work_left_on_a_gpu_slows_what_comes_next() -> None:
    slowed = [one + 2_000 * US for one in QUIET_NS]
    found = disturbance(0.0, slowed, QUIET_NS)
    assert found is not None
    assert "left work running on the GPU" in found.message
    assert disturbance(0.0, QUIET_NS, slowed) is None


def test_a_few_calls_prove_nothing() -> None:
    assert disturbance(0.0, [9e9] * 19, QUIET_NS) is None


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (replace(a_call(50), build_cpu_ns=500 * US), "within custom_kernel"),
        (replace(a_call(50), still_cpu_ns=500 * US), "within custom_kernel"),
        (replace(a_call(50), after_cpu_ns=500 * US), "before it returns"),
        (replace(a_call(50), outside_ns=5_000 * US), "before it returns"),
        (a_call(1, took_us=3_000), "once all of its work is done"),
        (a_call(0), "once all of its work is done"),
    ],
)
def test_every_refusal_says_what_to_do(call: Window, advice: str) -> None:
    found = quiet().contradiction([call] * 20)
    assert found is not None
    assert advice in found.message
