"""What a minority of calls does for the others counts for all of them."""

import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.minority import (
    WindowWork,
    carried_ns,
    costly_calls_note,
    counted_ns,
    counted_of,
    mean_ns,
)
from kernelbot.harness.timing.plausibility import CallBaseline
from kernelbot.harness.words.windows import Window
from kernelbot.protocol.scoring import process_interval
from kernelbot.protocol.workload_rules import MOST_COUNTED

US = 1_000
MS = 1_000_000
MARKS = Window(claim_ns=US, bracket_ns=30 * US, call_cpu_ns=20 * US, call_tree_cpu_ns=20 * US)
"""A control call: 30 us from look to look, 20 us of them computing."""
LENIENCY = 1.05


def baseline_of(calls: Sequence[Window], *, on_gpu: bool = False) -> CallBaseline:
    seen = ControlCalls(on_gpu=on_gpu)
    for call in calls:
        seen.add(call)
    return seen.baseline()


QUIET = baseline_of([MARKS] * 20)


def a_call(took_us: int, claim_us: int | None = None) -> Window:
    """A call that computes for so long, and claims that it did, or something else."""
    cpu_ns = (took_us + 20) * US
    claim_ns = (took_us if claim_us is None else claim_us) * US
    return Window(claim_ns, (took_us + 30) * US, call_cpu_ns=cpu_ns, call_tree_cpu_ns=cpu_ns)


def score_ns(windows: Sequence[Window], baseline: CallBaseline = QUIET, calls: int = 1) -> float:
    return statistics.median(counted_ns(windows, baseline, calls))


def works_of(times: Sequence[tuple[int, int]]) -> list[WindowWork]:
    """Calls that certainly did the first and took the second for other reasons, in us."""
    return [WindowWork(float(sum(time)), float(time[0])) for time in times]


def counts_ns(works: Sequence[WindowWork], noise_ns: float = 0.0) -> float:
    carried = carried_ns(works, noise_ns)
    return statistics.median(one.sample_ns + more for one, more in zip(works, carried, strict=True))


@pytest.mark.parametrize("every", [3, 5, 10, 40])
def test_work_saved_up_in_few_calls_gains_only_the_leniency(every: int) -> None:
    calls = [a_call(100 * every if call % every == 0 else 0, None) for call in range(120)]
    calls = [replace(call, claim_ns=max(call.claim_ns, US)) for call in calls]
    assert 100 * US / LENIENCY == pytest.approx(score_ns(calls), abs=2 * US)


def test_so_does_work_of_the_first_call() -> None:
    calls = [a_call(4_000), *[a_call(1)] * 39]
    assert 100 * US / LENIENCY == pytest.approx(score_ns(calls), abs=2 * US)


def test_all_together_may_count_more_than_they_took() -> None:
    calls = [*[a_call(90_000)] * 8, *[a_call(6_000)] * 48]
    took_ns = sum(call.bracket_ns for call in calls)
    assert 1.5 * took_ns < sum(counted_ns(calls, QUIET)) <= MOST_COUNTED * took_ns


@given(st.lists(st.integers(0, 100_000), min_size=7, max_size=60), st.data())
def test_but_no_more_than_what_results_are_held_to(
    times_us: list[int], data: st.DataObject
) -> None:
    calls = [a_call(time_us) for time_us in times_us]
    counted = counted_of([calls], QUIET)
    places = data.draw(st.lists(st.sampled_from(range(len(calls))), min_size=1, unique=True))
    took_ns = sum(call.bracket_ns for call in calls)
    assert sum(counted.samples_ns([sorted(places)], 1)) <= MOST_COUNTED * took_ns


def test_several_calls_of_a_window_share_it() -> None:
    calls = [a_call(2_000 if call % 4 == 0 else 10) for call in range(40)]
    assert score_ns(calls) / 8 == pytest.approx(score_ns(calls, calls=8))


def test_a_sample_is_of_the_windows_that_count_and_by_call() -> None:
    """Two processes; the second window of each was repeated by its third."""
    calls = [[a_call(100), a_call(900), a_call(200)], [a_call(300), a_call(900), a_call(400)]]
    counted = counted_of(calls, QUIET)
    one, other = counted.of_each
    chosen = [one[0], other[0], one[2], other[2]]
    lack_ns = counted.least_ns - statistics.median(chosen)
    assert lack_ns > 0
    assert [(each + lack_ns) / 8 for each in chosen] == counted.samples_ns([[0, 2], [0, 2]], 8)


@given(st.lists(st.integers(100, 104), min_size=6, max_size=60))
def test_calls_that_hardly_differ_are_left_as_they_are(times_us: list[int]) -> None:
    calls = [a_call(time) for time in times_us]
    assert [QUIET.bounded_ns(call) for call in calls] == counted_ns(calls, QUIET)


@given(st.lists(st.integers(0, 50_000), min_size=6, max_size=60))
def test_what_others_did_to_a_call_is_not_its_work(delays_us: list[int]) -> None:
    """Their time is in a runner's claim, and in the judge's; no processor of the call's is."""
    calls = [
        replace(
            a_call(100, 100 + delay),
            bracket_ns=(130 + delay) * US,
            waiting_ns=delay * US * (place % 2),
        )
        for place, delay in enumerate(delays_us)
    ]
    assert [QUIET.bounded_ns(call) for call in calls] == counted_ns(calls, QUIET)


def waited(call: Window, wait_us: int, *, claimed: bool = False) -> Window:
    """The call, but others had its processor meanwhile: before it began, or while it ran."""
    return replace(
        call,
        claim_ns=call.claim_ns + claimed * wait_us * US,
        bracket_ns=call.bracket_ns + wait_us * US,
        waiting_ns=wait_us * US,
        kept_waiting_ns=wait_us * US,
    )


@pytest.mark.parametrize("how_many", [1, 10, 21, 25, 39, 40])
@pytest.mark.parametrize("claimed", [False, True])
def test_calls_that_had_to_wait_have_done_their_work_and_no_more(
    how_many: int, claimed: bool
) -> None:
    calls = [a_call(500)] * 40
    calls[:how_many] = [waited(a_call(500), 3_000, claimed=claimed)] * how_many
    assert [QUIET.bounded_ns(call) for call in calls] == counted_ns(calls, QUIET)


@pytest.mark.parametrize("claimed", [False, True])
@pytest.mark.parametrize("others_us", [1, 60])
def test_work_saved_up_in_calls_that_waited_gains_only_the_leniency(
    others_us: int, claimed: bool
) -> None:
    """A kernel learns that it waited, and does then what the calls until the next wait need. Some
    calls that didn't wait do their own, so that these don't look as if they did nothing."""
    own, saved = a_call(100), waited(a_call(3 * 100), 4_000, claimed=claimed)
    calls = [saved, a_call(others_us), a_call(others_us)] * 20
    calls[1::9] = [own] * len(calls[1::9])
    done_us = statistics.fmean(QUIET.bounded_ns(call) for call in calls) / US
    assert (True, True) == (done_us > 100, score_ns(calls) >= done_us * US / LENIENCY - US)


def test_a_helper_that_works_alone_works_as_long_as_it_takes() -> None:
    slept = replace(a_call(20), bracket_ns=930 * US, claim_ns=900 * US, processors=15)
    helped = replace(slept, call_tree_cpu_ns=1_200 * US)
    calls = [helped if call % 3 == 0 else a_call(1) for call in range(60)]
    assert 300 * US / LENIENCY == pytest.approx(score_ns(calls), abs=2 * US)


def test_work_while_an_output_is_described_counts_in_few_calls_as_well() -> None:
    """A call that counts until then claims nothing of it."""
    plain = replace(a_call(100), bracket_ns=500 * US, described=True)
    worked = replace(
        plain, bracket_ns=3_500 * US, call_cpu_ns=3_120 * US, call_tree_cpu_ns=3_120 * US
    )
    calls = [worked if call % 4 == 0 else plain for call in range(40)]
    assert (500 + 3_000 / 4) * US / LENIENCY == pytest.approx(score_ns(calls), rel=0.01)


def test_few_lies_count_as_much_as_what_they_hide() -> None:
    calls = [a_call(900, 10) if call % 3 == 0 else a_call(10) for call in range(60)]
    assert 300 * US / LENIENCY == pytest.approx(score_ns(calls), rel=0.05)


def test_what_a_machine_adds_to_control_calls_as_well_is_no_lie() -> None:
    delayed = replace(MARKS, call_cpu_ns=3_000 * US, call_tree_cpu_ns=3_000 * US)
    noisy = baseline_of([*[MARKS] * 18, delayed, delayed])
    calls = [*[a_call(100)] * 18, a_call(2_000, 100), a_call(2_000, 100)]
    assert (100 * US, True) == (score_ns(calls, noisy), score_ns(calls) > 150 * US)


@pytest.mark.parametrize(
    "worked",
    [
        replace(a_call(10), build_cpu_ns=30 * MS),
        replace(a_call(10), still_cpu_ns=30 * MS),
        replace(a_call(10), after_cpu_ns=30 * MS),
    ],
    ids=["getting ready", "waiting", "describing"],
)
def test_the_main_threads_work_beside_few_calls_counts(worked: Window) -> None:
    beside = replace(worked, outside_tree_cpu_ns=30 * MS)
    calls = [beside if call % 10 == 0 else a_call(10) for call in range(40)]
    assert 3 * MS / LENIENCY == pytest.approx(score_ns(calls), rel=0.02)


def test_so_does_the_work_of_others_there() -> None:
    beside = replace(a_call(10), outside_tree_cpu_ns=30 * MS)
    calls = [beside if call % 10 == 0 else a_call(10) for call in range(40)]
    assert 2.8 * MS / LENIENCY == pytest.approx(score_ns(calls), rel=0.02)


def test_helpers_that_go_on_beside_every_call_do_no_work() -> None:
    calls = [replace(a_call(100), outside_tree_cpu_ns=(3 + call % 4) * MS) for call in range(40)]
    assert 100 * US == score_ns(calls)


def test_of_work_that_nobody_claims_twice_what_control_calls_have_is_no_work() -> None:
    works = [WindowWork(100.0, 100.0, unclaimed_ns=1_000.0)] * 4
    assert (100 + 1_000 - 2 * 300) / LENIENCY == pytest.approx(mean_ns(works, 300.0))


def test_nor_is_twice_what_helpers_usually_do_beside_a_call_and_2_ms() -> None:
    usual = replace(a_call(10), outside_tree_cpu_ns=3 * MS)
    more = replace(usual, outside_tree_cpu_ns=(2 * 3 + 2 + 4) * MS)
    calls = [more if call % 10 == 0 else usual for call in range(40)]
    assert (10 * US + 4 * MS / 10) / LENIENCY == pytest.approx(score_ns(calls), rel=0.02)


def test_on_a_gpu_a_claim_that_waited_adds_nothing_to_others() -> None:
    idle = baseline_of([MARKS] * 20, on_gpu=True)
    waited = replace(a_call(1), claim_ns=900 * US, bracket_ns=930 * US)
    calls = [waited if call % 3 == 0 else a_call(10) for call in range(60)]
    (of_all,) = counted_of([calls], idle).of_each
    assert (score_ns(calls, idle), 0.0) == (
        statistics.median(of_all),
        counted_of([calls], idle).least_ns,
    )
    assert 10 * US == pytest.approx(score_ns(calls, idle), rel=0.05)


def test_the_interval_contains_how_much_quarters_of_the_time_differ() -> None:
    """In one of which all was done."""
    works = works_of([(4_000, 10), *[(1, 10)] * 39])
    carried = carried_ns(works, 0.0)
    samples = [one.sample_ns + more for one, more in zip(works, carried, strict=True)]
    low, high = process_interval(samples, 4)
    assert high > 2 * low


TIMES = st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 500)), min_size=1, max_size=60)


@given(TIMES, st.data())
def test_more_work_never_counts_less(times: list[tuple[int, int]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(times) - 1))
    work, rest = times[place]
    more = [*times]
    more[place] = (work + data.draw(st.integers(0, 10_000)), rest)
    before, after = works_of(times), works_of(more)
    assert mean_ns(before, 0.0) <= mean_ns(after, 0.0)


@given(TIMES, st.sampled_from(["beside_ns", "unclaimed_ns"]), st.data())
def test_nor_does_more_of_what_is_hidden(
    times: list[tuple[int, int]], where: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(times) - 1))
    works = works_of(times)
    hidden = [*works]
    hidden[place] = replace(works[place], **{where: float(data.draw(st.integers(0, 10_000)))})
    assert mean_ns(works, 100.0) <= mean_ns(hidden, 100.0)


@given(TIMES, st.floats(1, 10), st.data())
def test_nor_does_it_on_a_busy_machine(
    times: list[tuple[int, int]], waits: float, data: st.DataObject
) -> None:
    """On which all work takes as many times longer."""
    place = data.draw(st.integers(0, len(times) - 1))
    more = [work for work, _ in times]
    more[place] += data.draw(st.integers(0, 10_000))
    before, after = (
        [WindowWork(waits * work, float(work), claim_ns=waits * work) for work in of]
        for of in ([work for work, _ in times], more)
    )
    assert mean_ns(before, 0.0) <= mean_ns(after, 0.0) * (1 + 1e-9)


def test_work_that_was_saved_up_waits_as_long_as_others_does() -> None:
    """Each call waits for as long as it computes: the honest one's sample has it, too."""
    honest = [replace(a_call(100, 200), bracket_ns=230 * US)] * 60
    saved = replace(a_call(300, 600), bracket_ns=630 * US)
    cheat = [saved if call % 3 == 0 else a_call(1) for call in range(60)]
    assert score_ns(honest) / LENIENCY == pytest.approx(score_ns(cheat), rel=0.02)


@given(st.permutations(range(24)))
def test_in_which_calls_it_was_done_does_not_matter(order: list[int]) -> None:
    works = works_of([(900 if place < 7 else place, 10) for place in range(24)])
    dealt = [works[place] for place in order]
    assert mean_ns(works, 0.0) == mean_ns(dealt, 0.0)


@given(TIMES, st.integers(0, 100))
def test_the_median_is_at_least_the_mean_and_no_sample_gets_less(
    times: list[tuple[int, int]], noise: int
) -> None:
    works = works_of(times)
    wanted = max(mean_ns(works, noise), statistics.median(one.sample_ns for one in works))
    assert counts_ns(works, noise) >= wanted - 1e-6
    assert min(carried_ns(works, noise)) >= 0


def test_only_what_is_clearly_more_is_told() -> None:
    few = "a few did much more, and the mean of all counts: 200.0 us."
    assert (None, f"small: the median call took 100.0 us, but {few}") == (
        costly_calls_note("small", [100.0 * US], [105.0 * US]),
        costly_calls_note("small", [100.0 * US], [200.0 * US]),
    )
