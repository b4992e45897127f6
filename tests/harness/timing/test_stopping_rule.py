"""The stopping rule, on samples with a known median."""

import dataclasses

import pytest

from kernelbot.harness.timing.stopping_rule import StoppedBy, StoppingRule
from kernelbot.protocol import SamplingRules

RULES = SamplingRules(min_samples=20, max_samples=200, min_total_s=0.0, block=10)


def drain(rule: StoppingRule, sample_ns: float, seconds_each: float = 0.0) -> tuple[StoppedBy, int]:
    count = 0
    while True:
        count += 1
        rule.add(sample_ns * (1 + count % 2))
        if stopped := rule.decide(count * seconds_each, count * seconds_each):
            return stopped, count


def drain_steadily(rule: StoppingRule, sample_ns: float) -> tuple[StoppedBy, int]:
    while True:
        rule.add(sample_ns)
        if stopped := rule.decide(0.0, 0.0):
            return stopped, len(rule.samples_ns)


def test_steady_samples_stop_at_the_minimum() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0)
    for _ in range(19):
        rule.add(1000.0)
        assert rule.decide(0.0, 0.0) is None
    rule.add(1000.0)
    assert StoppedBy.PRECISION == rule.decide(0.0, 0.0)


def test_precision_is_only_looked_at_after_whole_blocks() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, [1000.0] * 20)
    rule.add(1000.0)
    assert rule.decide(0.0, 0.0) is None


def test_noisy_samples_continue_to_the_maximum() -> None:
    assert (StoppedBy.MAX_SAMPLES, 200) == drain(StoppingRule(RULES, 10.0, 60.0), 1000.0)


def test_the_wall_cap_waits_for_the_minimum() -> None:
    rules = dataclasses.replace(RULES, wall_cap_s=1.0)
    assert (StoppedBy.WALL_CAP, 20) == drain(
        StoppingRule(rules, 10.0, 60.0), 1000.0, seconds_each=0.2
    )


def test_the_wall_cap_ends_what_stays_noisy() -> None:
    rules = dataclasses.replace(RULES, wall_cap_s=5.0)
    assert (StoppedBy.WALL_CAP, 25) == drain(
        StoppingRule(rules, 10.0, 60.0), 1000.0, seconds_each=0.2
    )


def test_the_longest_time_cuts_even_below_the_minimum() -> None:
    rule = StoppingRule(RULES, 1.8, 60.0)
    assert ((StoppedBy.WALL_CAP, 9), False) == (drain(rule, 1000.0, seconds_each=0.2), rule.too_few)


def test_but_an_interval_needs_six_as_long_as_there_is_time() -> None:
    rule = StoppingRule(RULES, 1.0, 60.0)
    assert ((StoppedBy.WALL_CAP, 6), False) == (drain(rule, 1000.0, seconds_each=0.2), rule.too_few)


def test_fewer_than_six_are_none_if_there_is_no_more_time() -> None:
    rule = StoppingRule(RULES, 1.0, 0.9)
    assert ((StoppedBy.WALL_CAP, 4), True) == (drain(rule, 1000.0, seconds_each=0.2), rule.too_few)


def test_twenty_microseconds_end_by_precision() -> None:
    rule = StoppingRule(SamplingRules(), 20.0, 60.0)
    assert (StoppedBy.PRECISION, 20) == drain_steadily(rule, 20_000.0)


def test_a_runner_that_sleeps_beside_its_calls_is_sampled_all_the_same() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, [1000.0] * 19)
    assert rule.decide(100.0, judge_s=1.0) is None


def test_a_call_that_sleeps_ends_nothing() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, [1000.0] * 18 + [60e9])
    assert rule.decide(61.0, judge_s=1.0) is None


def test_calls_that_are_all_slow_are_fewer() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, [2e9] * 6)
    assert StoppedBy.WALL_CAP == rule.decide(13.0, judge_s=1.0)


def test_what_is_as_narrow_as_wanted_is_precise() -> None:
    rules = dataclasses.replace(RULES, target_relative_ci=0.0)
    rule = StoppingRule(rules, 10.0, 60.0, [1000.0] * 20, [1000.0] * 20)
    assert StoppedBy.PRECISION == rule.decide(0.0, 0.0)


@pytest.mark.parametrize(("longest_s", "cap_s"), [(3.0, 9.0), (9.0, 3.0)])
def test_at_the_earlier_of_both_limits_it_ends(longest_s: float, cap_s: float) -> None:
    rules = dataclasses.replace(RULES, wall_cap_s=cap_s)
    rule = StoppingRule(rules, longest_s, 60.0, [1e3, 2e3] * 10, [1e3, 2e3] * 10)
    assert [None, StoppedBy.WALL_CAP] == [rule.decide(wall_s, 0.0) for wall_s in (2.9, 3.0)]


@pytest.mark.parametrize(
    ("count", "longest_s", "limit_s", "ends"),
    [(4, 9.0, 5.0, False), (4, 9.0, 4.9, True), (6, 6.0, 9.0, True), (6, 6.1, 9.0, False)],
)
def test_a_few_samples_end_it_once_another_turn_would_end_too_late(
    count: int, longest_s: float, limit_s: float, ends: bool
) -> None:
    rule = StoppingRule(RULES, longest_s, limit_s, [1e9] * count)
    assert ends is (rule.decide(0.0, 0.0) is StoppedBy.WALL_CAP)


@pytest.mark.parametrize("total_s", [0.01, 0.1])
def test_short_calls_are_repeated_until_the_minimum_total(total_s: float) -> None:
    rules = SamplingRules(min_samples=20, max_samples=10**6, min_total_s=total_s, block=10)
    rule = StoppingRule(rules, 10.0, 60.0)
    count = 0
    while rule.decide(0.0, 0.0) is None:
        rule.add(100_000.0)
        count += 1
    assert round(total_s * 10_000) == count


def test_what_is_wanted_may_be_something_else_than_the_time() -> None:
    """In a duel: times that vary, in pairs whose ratio doesn't."""
    rule = StoppingRule(RULES, 10.0, 60.0)
    for count in range(20):
        rule.add(1000.0 * (1 + count % 5), 0.9)
    assert StoppedBy.PRECISION == rule.decide(0.0, 0.0)


def turns(rule: StoppingRule, processes: list[float]) -> StoppedBy | None:
    """A hundred turns at most of processes that take so long, by 0.1 % more or less."""
    for turn in range(100):
        for sample_ns in processes:
            rule.add(sample_ns * (1 + 0.001 * (turn % 3)))
        if stopped := rule.decide(0.0, 0.0):
            return stopped
    return None


def test_processes_that_differ_end_it_as_more_samples_change_nothing() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, processes=4)
    found = turns(rule, [1000.0, 1020.0, 1040.0, 1060.0])
    assert (StoppedBy.PROCESSES, 24) == (found, len(rule.samples_ns))


def test_processes_that_differ_do_not_while_the_machine_changes_more() -> None:
    """Its third and fourth turn take 5 % more time, as others might not."""
    of_each = [1003.0, 1012.0, 1029.0]
    samples = [one * factor for factor in (1, 1, 1.05, 1.05, 1, 1) for one in of_each]
    rules = dataclasses.replace(RULES, min_samples=18, block=3)
    rule = StoppingRule(rules, 10.0, 60.0, samples, samples, processes=3)
    assert rule.decide(0.0, 0.0) is None


def test_processes_that_agree_end_it_by_precision_after_whole_turns() -> None:
    rule = StoppingRule(RULES, 10.0, 60.0, processes=8)
    assert (StoppedBy.PRECISION, 32) == (turns(rule, [1000.0] * 8), len(rule.samples_ns))


def test_calls_are_repeated_while_that_leaves_time_for_the_least_number_of_samples() -> None:
    """Else a kernel would have too few of them because its machine is busy."""
    rule = StoppingRule(RULES, longest_s=10.0, limit_s=60.0)
    each_s = 10.0 / RULES.min_samples
    found = []
    for count in range(3):
        found.append([rule.has_time_to_repeat(each_s * (count + share)) for share in (0.9, 1.0)])
        rule.add(1000.0)
    assert [[True, False]] * 3 == found


WIDE = [100_000.0, 160_000.0] * 12
"""Whatever half of them is looked at: the 95 % interval of their median is wider than +-10 %."""
NARROW = [100_000.0, 110_000.0] * 12


def ends_at(rule: StoppingRule, until: int) -> float | None:
    """At which tenth of a second up to `until` it ends, without any further sample."""
    for tenth in range(1, until + 1):
        if rule.decide(tenth / 10, 0.0) is StoppedBy.WALL_CAP:
            return tenth / 10
    return None


@pytest.mark.parametrize(
    ("samples_ns", "is_ranked", "ended_s"),
    [(WIDE, True, 6.0), (WIDE, False, 2.0), (NARROW, True, 2.0)],
)
def test_what_would_be_measured_again_goes_on_for_three_times_as_long(
    samples_ns: list[float], is_ranked: bool, ended_s: float
) -> None:
    rule = StoppingRule(RULES, 20.0, 60.0, [*samples_ns], [*samples_ns], is_ranked=is_ranked)
    assert ended_s == ends_at(rule, 100)


def test_but_not_beyond_its_longest_time() -> None:
    rule = StoppingRule(RULES, 3.0, 60.0, [*WIDE], [*WIDE], is_ranked=True)
    assert 3.0 == ends_at(rule, 100)


def test_and_of_a_busy_machine_for_three_times_what_the_fewest_samples_took() -> None:
    rule = StoppingRule(RULES, 20.0, 60.0, [*WIDE], [*WIDE], is_ranked=True)
    late = [rule.decide(wall_s, 0.0) for wall_s in (5.0, 14.9, 15.0)]
    assert [None, None, StoppedBy.WALL_CAP] == late


def test_it_ends_at_the_next_look_once_it_is_narrow_enough() -> None:
    rule = StoppingRule(RULES, 20.0, 60.0, [*WIDE], [*WIDE], is_ranked=True)
    assert rule.decide(2.0, 0.0) is None
    for _ in range(60):
        rule.add(100_000.0)
    assert [None, StoppedBy.WALL_CAP] == [rule.decide(wall_s, 0.0) for wall_s in (2.4, 2.5)]


def test_it_goes_on_for_no_more_than_its_platform_asks_for() -> None:
    rules = dataclasses.replace(RULES, widest_relative_ci=1.0)
    rule = StoppingRule(rules, 20.0, 60.0, [*WIDE], [*WIDE], is_ranked=True)
    assert 2.0 == ends_at(rule, 100)


def test_it_does_not_go_on_if_processes_differ_by_more_than_samples_could_even_out() -> None:
    processes = [100_000.0, 100_000.0, 180_000.0]
    rule = StoppingRule(RULES, 20.0, 60.0, processes=3, is_ranked=True)
    for _ in range(7):  # no whole block: it would end by that
        for sample_ns in processes:
            rule.add(sample_ns)
    assert 2.0 == ends_at(rule, 100)


def test_nor_if_the_machine_has_changed_its_speed() -> None:
    rule = StoppingRule(RULES, 20.0, 60.0, processes=3, is_ranked=True)
    for turn in range(7):
        for place in range(3):
            rule.add((140_000.0 if turn < 3 else 100_000.0) + 100 * place)
    assert 2.0 == ends_at(rule, 100)
