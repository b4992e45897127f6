"""The bounds beyond which a call accuses its author: each on both of its sides."""

from dataclasses import replace
from typing import Any

import pytest

from kernelbot.harness.timing.plausibility import (
    CallBaseline,
    Overhead,
    below_floor,
    disturbance,
)
from kernelbot.harness.words.windows import Window
from kernelbot.protocol import DeviceSpec, Floor, Vendor
from tests.harness.timing.test_plausibility import US, a_call, quiet

TENTH_NS = 5 * US
"""Of the claim of `a_call(50)`: by so much more a median may differ."""
BUSY = CallBaseline(
    Overhead(0, 0, 0),
    Overhead(0, 0, 0),
    build_cpu_ns=7 * US,
    still_cpu_ns=7 * US,
    spread_ns=0,
    after_cpu_ns=7 * US,
    outside_ns=7 * US,
    cpu_variation_ns=7 * US,
    took_variation_ns=7 * US,
)
"""Control calls that cost nothing in the middle, and now and then 7 us."""
PLAIN = Window(50 * US, 50 * US, call_cpu_ns=50 * US, call_tree_cpu_ns=50 * US)


def doubted(call: Window, calls: int = 20) -> bool:
    return BUSY.contradiction([call] * calls) is not None


@pytest.mark.parametrize(
    ("field", "allowed_ns"),
    [
        ("build_cpu_ns", 100 * US + 14 * US + TENTH_NS),
        ("still_cpu_ns", 100 * US + 14 * US + TENTH_NS),
        ("after_cpu_ns", 100 * US + 14 * US + TENTH_NS),
        ("outside_ns", 1_000 * US + 14 * US + TENTH_NS),
        ("call_cpu_ns", 50 * US + 100 * US + 7 * US + TENTH_NS),
        ("call_tree_cpu_ns", 50 * US + 100 * US + 7 * US + TENTH_NS),
        ("bracket_ns", 50 * US + 1_000 * US + 7 * US + TENTH_NS),
    ],
)
def test_a_call_may_take_so_much_and_no_more(field: str, allowed_ns: int) -> None:
    changes: list[dict[str, Any]] = [{field: allowed_ns}, {field: allowed_ns + 1}]
    at_most, more = (replace(PLAIN, **change) for change in changes)
    assert (False, True) == (doubted(at_most), doubted(more))


LIES = replace(PLAIN, claim_ns=0)


def test_a_call_that_counts_until_it_was_described_makes_no_claim() -> None:
    described = replace(LIES, described=True)
    assert (True, False) == (doubted(LIES), doubted(described))
    assert not doubted(replace(PLAIN, claim_ns=1, bracket_ns=100, call_cpu_ns=0), 4)


def test_a_claim_of_a_nanosecond_is_possible_and_of_none_is_not() -> None:
    calls = [Window(claim_ns, 100) for claim_ns in (0, 1)]
    assert [True, False] == [doubted(call, 4) for call in calls]


def test_what_was_waited_beyond_a_claim_is_no_time() -> None:
    assert [0.0, 3.0] == [BUSY.launched_ns(Window(5, 9, kept_waiting_ns=ns)) for ns in (10, 2)]


@pytest.mark.parametrize(
    ("control_spread_ns", "claims_spread_ns", "suspected"),
    [
        (0, 9 * US, True),
        (0, 10 * US, False),
        (20 * US, 5 * US, True),
        (20 * US, 6 * US, False),
    ],
)
def test_claims_vary_a_tenth_as_much_as_the_clocks_beyond_twice_the_control_calls(
    control_spread_ns: int, claims_spread_ns: int, suspected: bool
) -> None:
    baseline = replace(BUSY, spread_ns=control_spread_ns, on_gpu=True)
    calls = [
        Window(50 * US + (at // 20) * claims_spread_ns, 200 * US + at // 20 * 100 * US)
        for at in range(40)
    ]
    assert suspected is (baseline.suspicion(calls) is not None)
    described = [replace(call, described=True) for call in calls]
    assert baseline.suspicion(described) is None


@pytest.mark.parametrize(("lack_ns", "suspected"), [(26_999, False), (27_000, True)])
def test_what_the_clocks_add_to_steady_claims_is_20_us_beyond_what_control_calls_vary(
    lack_ns: int, suspected: bool
) -> None:
    baseline = replace(BUSY, on_gpu=True)
    took_ns = [60 * US] * 10 + [50 * US + lack_ns] * 19 + [200 * US] * 10
    calls = [Window(50 * US, one) for one in took_ns]
    assert suspected is (baseline.suspicion(calls) is not None)


def test_of_a_claim_a_microsecond_stays_whatever_launching_costs() -> None:
    baseline = replace(BUSY, launch_ns=5 * US)
    claims_ns = (999, 2 * US, 7 * US)
    assert [999, US, 2 * US] == [baseline.launched_ns(Window(ns, ns)) for ns in claims_ns]


@pytest.mark.parametrize(("idle_ns", "found"), [(50_000.0, False), (50_001.0, True)])
def test_a_frozen_runner_may_compute_for_as_long_as_waking_takes(
    idle_ns: float, found: bool
) -> None:
    assert found is (disturbance(idle_ns, [], []) is not None)


@pytest.mark.parametrize(
    ("slow", "by_ns", "found"), [(6, 200_001, False), (7, 200_000, False), (7, 200_001, True)]
)
def test_three_in_ten_calls_may_be_200_us_slower_than_most_after_the_other_kernel(
    slow: int, by_ns: int, found: bool
) -> None:
    """Most: nine tenths."""
    after_other = [50_000.0] * 18 + [100_000.0] + [900_000.0]
    after = [0.0] * (20 - slow) + [100_000.0 + by_ns] * slow
    assert found is (disturbance(0.0, after, after_other) is not None)


DEVICE = DeviceSpec("X", Vendor.NVIDIA, peak_bytes_per_s=1e9)


@pytest.mark.parametrize(
    ("device", "floor", "launch_ns", "least_ns"),
    [
        (DEVICE, Floor(memory_bytes=100), 0.0, 100.0),
        (replace(DEVICE, cache_bytes=60), Floor(memory_bytes=100), 0.0, 40.0),
        (replace(DEVICE, launch_overhead_ns=5_000.0), None, 2_000.0, 3_000.0),
        (replace(DEVICE, launch_overhead_ns=50.0), Floor(memory_bytes=100), 0.0, 100.0),
    ],
)
def test_a_time_may_be_the_least_that_a_device_needs(
    device: DeviceSpec, floor: Floor | None, launch_ns: float, least_ns: float
) -> None:
    found = [below_floor(floor, device, ns, launch_ns) for ns in (least_ns, least_ns - 0.5)]
    assert [False, True] == [one is not None for one in found]


def test_where_nothing_is_known_any_time_is_possible() -> None:
    known = replace(DEVICE, cache_bytes=100)
    found = [below_floor(None, DEVICE, 0.0), below_floor(Floor(memory_bytes=99), known, 0.0)]
    assert [None, None] == found


def test_a_runner_that_computed_while_it_was_frozen_is_told_how_much() -> None:
    found = disturbance(60_000.0, [], [])
    assert found is not None
    assert "60 us of processor time for each pair of calls" == found.evidence


def test_five_calls_are_enough_and_four_are_not() -> None:
    worked = replace(PLAIN, build_cpu_ns=500 * US)
    assert (False, True) == (doubted(worked, 4), doubted(worked, 5))


def test_a_claim_may_be_longer_than_its_call_by_what_clocks_differ_by() -> None:
    claims = [
        replace(PLAIN, claim_ns=1_000 * US + more, bracket_ns=1_000 * US) for more in (200, 201)
    ]
    assert [False, True] == [doubted(claim) for claim in claims]


@pytest.mark.parametrize(("kept_waiting_ns", "expected_ns"), [(None, 50), (10 * US, 40), (0, 50)])
def test_a_claim_counts_without_what_others_had(
    kept_waiting_ns: int | None, expected_ns: int
) -> None:
    waited = replace(PLAIN, kept_waiting_ns=kept_waiting_ns)
    assert expected_ns * US == BUSY.launched_ns(waited)


@pytest.mark.parametrize(
    ("claim_ns", "expected_ns"), [(50 * US, 43 * US), (8 * US, US), (7 * US, US), (300, 300)]
)
def test_what_launching_costs_leaves_a_microsecond(claim_ns: int, expected_ns: int) -> None:
    on_gpu = replace(BUSY, launch_ns=7 * US)
    assert expected_ns == on_gpu.launched_ns(replace(PLAIN, claim_ns=claim_ns))


@pytest.mark.parametrize(
    ("calls_waited", "described", "beyond_ns", "expected"),
    [
        (True, False, 1, True),
        (False, False, 1, False),
        (True, True, 1, False),
        (True, False, 0, False),
    ],
)
def test_what_took_longer_than_it_claims_has_waited_if_control_calls_did(
    calls_waited: bool, described: bool, beyond_ns: int, expected: bool
) -> None:
    usual = replace(BUSY, usual=Overhead(3 * US, 0, 0), calls_waited=calls_waited)
    call = replace(PLAIN, bracket_ns=53 * US + beyond_ns, described=described)
    assert expected == usual.has_waited(call)


def test_twenty_calls_are_enough_to_suspect_and_nineteen_are_not() -> None:
    lies = [a_call(1, took_us=100 + number) for number in range(20)]
    found = [quiet().suspicion(some) is not None for some in (lies, lies[:19])]
    assert [True, False] == found


@pytest.mark.parametrize(("added_ns", "suspicious"), [(20 * US + 7 * US, True), (26_999, False)])
def test_claims_of_which_20_us_are_missing_are_suspicious(added_ns: int, suspicious: bool) -> None:
    """And those that a busy machine may have added."""
    took_ns = [50 * US + added_ns + differing for differing in range(-10, 11)]
    calls = [Window(50 * US, ns, call_cpu_ns=ns, call_tree_cpu_ns=ns) for ns in took_ns]
    assert suspicious == (BUSY.suspicion(calls) is not None)


ELSE_NS = [100 * US] * 20
"""Control calls after the other kernel's."""


@pytest.mark.parametrize(("idle_ns", "disturbs"), [(50 * US, False), (50 * US + 1, True)])
def test_waking_up_costs_50_us_at_most(idle_ns: int, disturbs: bool) -> None:
    assert disturbs == (disturbance(idle_ns, ELSE_NS, ELSE_NS) is not None)


@pytest.mark.parametrize(
    ("slower", "by_ns", "disturbs"),
    [(20, 200 * US, False), (20, 200 * US + 1, True), (6, 300 * US, False), (7, 300 * US, True)],
)
def test_three_in_ten_control_calls_may_be_a_fifth_of_a_millisecond_slower(
    slower: int, by_ns: int, disturbs: bool
) -> None:
    after_ns = [100 * US + by_ns] * slower + [100 * US] * (20 - slower)
    assert disturbs == (disturbance(0.0, after_ns, ELSE_NS) is not None)
