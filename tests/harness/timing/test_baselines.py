"""Each cost of a call without any author's code, of control calls that all differ."""

import math
import statistics
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.plausibility import CallBaseline, Overhead
from kernelbot.harness.words.windows import Window


def a_call(number: int, **changes: Any) -> Window:
    """The costs of the first call, so many times."""
    call = Window(
        claim_ns=7 * number,
        bracket_ns=1000 * number,
        call_cpu_ns=100 * number,
        call_tree_cpu_ns=60 * number,
        build_cpu_ns=10 * number,
        still_cpu_ns=20 * number,
        after_cpu_ns=30 * number,
        outside_ns=40 * number,
        describing_ns=50 * number,
    )
    return replace(call, **changes)


CALLS = [a_call(number) for number in range(1, 21)]
"""Of these a tenth cost at most three times the first one, half eleven times, and 95 % twenty."""


def baseline(
    calls: list[Window],
    share: float = 2.0,
    larger: float = 3.0,
    *,
    on_gpu: bool = False,
    launches: bool = False,
) -> CallBaseline:
    seen = ControlCalls(on_gpu=on_gpu, launches=launches)
    for call in calls:
        seen.add(call)
    return seen.baseline(share, larger)


def error_ns(costs_ns: list[int]) -> float:
    return 2 * math.sqrt(statistics.pvariance(costs_ns) / len(costs_ns))


def test_on_a_processor_the_middle_is_subtracted_and_the_cheapest_tenth_accuses() -> None:
    dear = replace(CALLS[-1], call_cpu_ns=4000)
    main_ns = [100 * number for number in range(1, 20)] + [4000]
    assert CallBaseline(
        usual=Overhead(11_000, 1_100, 660),
        least=Overhead(3_000, 300, 180),
        build_cpu_ns=200,
        still_cpu_ns=400,
        spread_ns=16_000 - 6_000,
        after_cpu_ns=600 * 2 * 3,
        outside_ns=800 * 2,
        cpu_variation_ns=4000 - 300,
        on_gpu=False,
        noise_ns=1150 - 1050 + error_ns(main_ns),
        launch_ns=0.0,
        calls_waited=False,
        usual_describing_ns=550 * 2,
        took_variation_ns=20_000 - 3_000,
    ) == baseline([*CALLS[:-1], dear])


def test_on_a_gpu_its_own_work_is_no_part_and_nearly_the_dearest_accuses() -> None:
    calls = [replace(call, claim_ns=5, call_tree_cpu_ns=3 * call.call_cpu_ns) for call in CALLS]
    least = Overhead(19_995 * 2 + 50_000, 1_045 * 2.5 + 20_000, 3_145 * 2.5 + 20_000)
    assert CallBaseline(
        usual=least,
        least=least,
        build_cpu_ns=200,
        still_cpu_ns=400,
        spread_ns=16_000 - 6_000,
        after_cpu_ns=600 * 2 * 3,
        outside_ns=800 * 2,
        cpu_variation_ns=0.0,
        on_gpu=True,
        noise_ns=error_ns([100 * number - 5 for number in range(1, 21)]),
        launch_ns=5,
        calls_waited=False,
        usual_describing_ns=550 * 2,
        took_variation_ns=0.0,
    ) == baseline(calls, on_gpu=True, launches=True)


def test_what_the_whole_tree_adds_counts_where_it_is_more() -> None:
    calls = [replace(call, call_tree_cpu_ns=3 * call.call_cpu_ns) for call in CALLS]
    assert 6_000 - 900 == baseline(calls).cpu_variation_ns


def test_where_no_launch_is_measured_none_is_subtracted() -> None:
    assert [0.0, 21] == [baseline(CALLS, launches=one).launch_ns for one in (False, True)]


def test_what_is_below_the_middle_is_no_noise() -> None:
    cheap = replace(CALLS[0], call_cpu_ns=-2000)
    costs_ns = [-2000, *(100 * number for number in range(2, 21))]
    assert pytest.approx(error_ns(costs_ns)) == baseline([cheap, *CALLS[1:]]).noise_ns


@pytest.mark.parametrize(("on_gpu", "more_ns"), [(False, 0), (True, 50_000)])
def test_of_control_calls_that_waited_less_is_subtracted(on_gpu: bool, more_ns: int) -> None:
    """Three times as much as of the cheapest tenth, and some."""
    calls = [a_call(1, claim_ns=0)] * 3 + [a_call(1, claim_ns=0, bracket_ns=10**9)] * 17
    found = baseline(calls, on_gpu=on_gpu)
    assert ((3 * 1000 + 50_000) * 2 + more_ns, True) == (found.usual.took_ns, found.calls_waited)


def test_where_the_cheapest_took_nothing_only_the_slack_is_no_wait() -> None:
    """Their waits began before they did."""
    nothing = a_call(1, bracket_ns=0, waiting_ns=5)
    calls = [nothing] * 3 + [a_call(1, bracket_ns=10**9)] * 17
    assert 50_000 == baseline(calls, share=1.0).usual.took_ns


@pytest.mark.parametrize(("dear_ns", "waited"), [(80_000, False), (80_001, True)])
def test_as_much_as_that_is_no_wait(dear_ns: int, waited: bool) -> None:
    calls = [a_call(1, bracket_ns=10_000)] * 5 + [a_call(1, bracket_ns=dear_ns)] * 15
    found = baseline(calls, share=1.0)
    assert (80_000, waited) == (found.usual.took_ns, found.calls_waited)


def test_calls_that_took_no_longer_than_they_claim_cost_nothing_but_the_slack() -> None:
    found = baseline([a_call(1, claim_ns=5_000)] * 10, on_gpu=True)
    assert (50_000, 150_000) == (found.usual.took_ns, 3 * found.usual.took_ns)
    assert 0.0 == found.took_variation_ns


def test_if_all_waited_the_middle_of_all_is_subtracted() -> None:
    waited = [replace(call, kept_waiting_ns=50_001) for call in CALLS]
    assert Overhead(11_000, 1_100, 660) == baseline(waited).usual


def test_else_the_middle_of_those_that_did_not() -> None:
    """Of the first four it is the third."""
    calls = [
        replace(call, kept_waiting_ns=50_001 if number >= 4 else 50_000)
        for number, call in enumerate(CALLS)
    ]
    assert Overhead(3_000, 300, 180) == baseline(calls).usual
