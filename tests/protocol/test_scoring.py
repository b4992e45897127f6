"""Medians and their intervals of samples, and the score of those."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import RankRule, SamplingRules
from kernelbot.protocol.scoring import (
    RESOLUTION_NS,
    WIDEST,
    MedianTime,
    Spread,
    combine,
    least_width,
    median_interval,
    median_time,
    process_interval,
    score,
    spread_of,
    steady_samples,
)

times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


def test_the_interval_of_a_hundred_is_at_the_41st_and_the_61st() -> None:
    assert (40, 61) == median_interval(list(range(1, 101)))


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=200))
def test_the_interval_holds_the_median(samples: list[float]) -> None:
    low, high = median_interval(samples)
    assert low <= statistics.median(samples) <= high


def test_the_interval_covers_the_true_median_nineteen_times_in_twenty() -> None:
    source = random.Random(1)
    hits = 0
    for _ in range(1000):
        low, high = median_interval([source.expovariate(1.0) for _ in range(40)])
        hits += low <= 0.6931 <= high
    assert 940 <= hits <= 990


def test_the_interval_of_two_is_that_of_their_logarithms() -> None:
    """t = 12.706 times half of what they differ by."""
    reach = 12.706 * math.log(110 / 90) / 2
    middle = math.sqrt(90 * 110)
    expected = (middle * math.exp(-reach), middle * math.exp(reach))
    samples = [90.0, 110.0] * 10
    assert pytest.approx(expected) == process_interval(samples, 2)
    assert pytest.approx((7000 * expected[0], 7000 * expected[1])) == (
        median_time([7000 * one for one in samples], processes=2).ci95_ns
    )


@pytest.mark.parametrize(
    ("samples", "expected"),
    [([5.0], Spread(5.0, 0.0, 5.0, 5.0)), ([1.0, 3.0], Spread(2.0, math.sqrt(2), 1.0, 3.0))],
)
def test_few_samples_have_a_spread(samples: list[float], expected: Spread) -> None:
    assert expected == spread_of(samples)


TURNS = st.integers(2, 8).flatmap(
    lambda count: st.lists(
        st.lists(st.floats(1, 1e9), min_size=count, max_size=count), min_size=2, max_size=20
    )
)
"""What each process took in each turn."""


def flat(turns: list[list[float]]) -> list[float]:
    return [sample for turn in turns for sample in turn]


@given(TURNS)
def test_the_interval_of_processes_is_never_narrower_than_one_s(turns: list[list[float]]) -> None:
    low, high = process_interval(flat(turns), len(turns[0]))
    naive_low, naive_high = median_interval(flat(turns))
    assert low <= naive_low <= naive_high <= high


@given(TURNS, st.floats(0.1, 10))
def test_another_unit_changes_nothing(turns: list[list[float]], factor: float) -> None:
    low, high = process_interval(flat(turns), len(turns[0]))
    scaled = process_interval([sample * factor for sample in flat(turns)], len(turns[0]))
    assert pytest.approx((low * factor, high * factor)) == scaled


@given(TURNS, st.randoms(use_true_random=False))
def test_the_order_of_processes_is_nothing(turns: list[list[float]], source: random.Random) -> None:
    order = list(range(len(turns[0])))
    source.shuffle(order)
    dealt = [[turn[place] for place in order] for turn in turns]
    expected = process_interval(flat(turns), len(order))
    assert pytest.approx(expected) == process_interval(flat(dealt), len(order))


def test_processes_that_differ_widen_it() -> None:
    """Three whose samples are 90, 100 and 110: t = 4.303 of the logarithms' deviation by root 3."""
    low, high = process_interval([90.0, 100.0, 110.0] * 100, 3)
    assert pytest.approx((77.67, 127.9), abs=0.1) == (low, high)


def test_a_machine_that_changes_meanwhile_widens_it() -> None:
    """Three alike, and four stretches of 90, 100, 110 and 100."""
    steady = [100.0] * 120
    changing = [sample for sample in (90.0, 100.0, 110.0, 100.0) for _ in range(30)]
    low, high = process_interval(changing, 3)
    assert pytest.approx((100.0, 100.0)) == process_interval(steady, 3)
    assert pytest.approx((87.8, 113.9), abs=0.1) == (low, high)


@pytest.mark.parametrize(
    ("turns", "expected"), [((90.0, 110.0), (27.9, 357.8)), ((90.0, 100.0, 110.0), (77.9, 128.3))]
)
def test_so_does_one_of_which_there_are_fewer_turns_than_four(
    turns: tuple[float, ...], expected: tuple[float, float]
) -> None:
    """As many stretches as turns: t = 12.706 of two, and 4.303 of three, by their roots."""
    samples = [sample for sample in turns for _ in range(8)]
    assert pytest.approx(expected, abs=0.1) == process_interval(samples, 8)


def test_a_single_turn_shows_no_moments() -> None:
    samples = [99.0, 100.0, 101.0] * 2
    assert process_interval(samples, 6, fewest_turns=4) == process_interval(samples, 6)


@pytest.mark.parametrize("drift", [0.03, 0.08])
def test_three_turns_hold_a_drifting_truth_at_least_as_often_as_four(drift: float) -> None:
    """A machine whose speed changes slowly, and eight processes that differ by 1 %."""
    held = {turns: _held_by_drifting(turns, drift) for turns in (3, 4)}
    assert held[3] >= held[4] > 0.5


def _held_by_drifting(turns: int, drift: float, tries: int = 500) -> float:
    """The share of intervals that hold what all kernels take at the mean."""
    source, held = random.Random(1), 0
    for _ in range(tries):
        of_each = [source.gauss(0, 0.01) for _ in range(8)]
        now, samples = source.gauss(0, drift), list[float]()
        for _ in range(turns):
            now = 0.8 * now + source.gauss(0, 0.6 * drift)
            samples += [math.exp(one + now + source.gauss(0, 0.01)) for one in of_each]
        low, high = process_interval(samples, 8)
        held += low <= 1 <= high
    return held / tries


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=60))
def test_one_process_has_the_interval_of_its_median(samples: list[float]) -> None:
    assert median_interval(samples) == process_interval(samples, 1)


@pytest.mark.parametrize("processes", [1, 3, 8, 100])
def test_equal_samples_have_no_width(processes: int) -> None:
    low, high = process_interval([5.0] * 24, processes)
    assert pytest.approx((5.0, 5.0)) == (low, high)


def test_calls_that_took_no_time_leave_the_whole_range() -> None:
    assert (0.0, 9.0) == process_interval([0.0, 1.0, 9.0] * 3, 3)


def test_the_largest_numbers_have_an_interval() -> None:
    low, high = process_interval([1e-300, 1e300] * 6, 2)
    assert 0 <= low < high < math.inf


@pytest.mark.parametrize("processes", [3, 5, 8])
def test_it_covers_the_truth_where_processes_differ(processes: int) -> None:
    """By 4 %, each with noise of 2 %; the interval of all samples as one's would hold it seldom."""
    source = random.Random(1)
    held = naively = 0
    for _ in range(1000):
        of_each = [source.gauss(0, 0.04) for _ in range(processes)]
        turns = [[math.exp(one + source.gauss(0, 0.02)) for one in of_each] for _ in range(15)]
        low, high = process_interval(flat(turns), processes)
        naive_low, naive_high = median_interval(flat(turns))
        held += low <= 1 <= high
        naively += naive_low <= 1 <= naive_high
    assert (held >= 940, naively < 600) == (True, True)


def test_processes_that_are_known_exactly_leave_their_interval() -> None:
    samples = [90.0, 100.0, 110.0] * 30
    low, high = process_interval(samples, 3)
    assert pytest.approx(math.log(high / low)) == least_width(samples, 3)


def test_what_processes_say_of_themselves_is_taken_from_how_they_differ() -> None:
    """Six samples of each of two: of one 0.9 to 1.1 times its median, of the other twice that."""
    one, other = (
        [90.0, 95.0, 100.0, 100.0, 105.0, 110.0],
        [180.0, 200.0, 200.0, 200.0, 200.0, 220.0],
    )
    samples = [each for pair in zip(one, other, strict=True) for each in pair]
    within = ((math.log(110 / 90) / 3.92) ** 2 + (math.log(220 / 180) / 3.92) ** 2) / 2
    between = math.log(2) ** 2 / 2 - within
    assert pytest.approx(2 * 12.706 * math.sqrt(between / 2)) == least_width(samples, 2)


def test_a_least_width_is_a_share_and_unknown_of_what_took_no_time() -> None:
    differ = [2.0, 2.2, 2.6] * 30
    tiny = [one / 1000 for one in differ]
    nothing = [0.0, 1.1, 1.3] * 30
    expected = least_width(differ, 3), 0.0
    assert expected[0] > 0.1
    assert pytest.approx(expected) == (least_width(tiny, 3), least_width(nothing, 3))


@pytest.mark.parametrize(("count", "known"), [(11, False), (12, True)])
def test_a_least_width_needs_six_samples_of_each(count: int, known: bool) -> None:
    assert known is (least_width([100.0, 200.0] * (count // 2) + [100.0] * (count % 2), 2) > 0)


def test_processes_that_differ_have_a_least_width_and_noise_has_none() -> None:
    source = random.Random(1)
    differ = [100.0 * (1 + place % 3 / 10) for place in range(90)]
    noisy = [source.lognormvariate(0, 0.1) for _ in range(90)]
    assert (True, 0.0) == (least_width(differ, 3) > 0.4, least_width(noisy, 3))


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=200))
def test_factors_of_one_change_nothing(samples: list[float]) -> None:
    assert median_time(samples) == median_time(samples, [1.0] * (len(samples) // 10 + 1))


def test_ten_samples_share_one_factor() -> None:
    assert [2.0] * 10 + [3.0] == steady_samples([1.0] * 11, [2.0, 3.0])


@given(times)
def test_every_rule_lies_between_the_extremes(values: list[float]) -> None:
    for rule in RankRule:
        combined = combine(rule, values)
        assert min(values) * (1 - 1e-12) <= combined <= max(values) * (1 + 1e-12)


def test_a_product_that_would_underflow_does_not() -> None:
    assert combine(RankRule.GEOM, [1e-9] * 100) == pytest.approx(1e-9)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("rule", list(RankRule))
def test_what_is_no_time_has_no_score(rule: RankRule, bad: float) -> None:
    with pytest.raises(ValueError, match="finite positive"):
        combine(rule, [1.0, bad])


def test_the_interval_is_the_rule_applied_to_the_ends() -> None:
    found = score(RankRule.MEAN, [MedianTime(2e9, (1e9, 3e9)), MedianTime(4e9, (3e9, 7e9))])
    assert (3.0, (2.0, 5.0)) == found


def test_single_calls_may_claim_to_have_taken_no_time() -> None:
    found = score(RankRule.GEOM, [MedianTime(100.0, (0.0, 200.0))])
    assert [pytest.approx(1e-7), pytest.approx((1e-9, 2e-7))] == list(found)


def test_what_is_too_short_to_be_told_apart_widens_no_interval() -> None:
    """Of a kernel that is read as next to nothing in one of its processes."""
    samples_ns = [2000.0, 1.0, 2000.0] * 7
    low_ns, high_ns = median_time(samples_ns, processes=3).ci95_ns
    assert (True, True) == (low_ns > 50, high_ns < 40_000)


@pytest.mark.parametrize("time_ns", [1_000.0, 1e6])
def test_no_interval_is_narrower_than_what_can_be_told_apart(time_ns: float) -> None:
    expected = time_ns - RESOLUTION_NS, time_ns + RESOLUTION_NS
    assert expected == median_time([time_ns] * 24, processes=3).ci95_ns


def test_that_of_one_process_is_as_it_was() -> None:
    assert (1e6, 1e6) == median_time([1e6] * 24).ci95_ns


def test_what_is_ranked_by_default_is_the_widest_that_a_score_may_be() -> None:
    assert 2 * WIDEST == SamplingRules().widest_relative_ci
