"""The figures of a duel."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.judge.authors import authors_of, steps_of, why_no_duel
from kernelbot.harness.timing.duel import rules_of
from kernelbot.protocol import (
    DuelWorkload,
    HarnessKind,
    Mode,
    Phase,
    RankRule,
    SamplingRules,
    SourceFile,
    Timeouts,
)
from kernelbot.protocol.phases import all_limits_s, limit_s, phases_of
from kernelbot.protocol.ratios import duel_result, duel_workload, ratio_of
from tests.harness.jobs import SORT, a_job, a_problem

JOB = replace(
    a_job(SORT, mode=Mode.LEADERBOARD, problem=a_problem(timeouts=Timeouts(1, 10, 100, 1000))),
    opponent=SourceFile("submission.py", SORT),
)
TIMES = st.lists(st.tuples(st.floats(1, 1e9), st.floats(1, 1e9)), min_size=1, max_size=60)


def workload(submission_ns: float, opponent_ns: float) -> DuelWorkload:
    return duel_workload("", [submission_ns] * 9, [opponent_ns] * 9, "")


def test_a_ratio_is_of_pairs_not_of_medians() -> None:
    """A machine that is three times slower for a while is so for both of a pair."""
    found = duel_workload("", [90, 270, 90, 270], [100, 300, 100, 300], "precision")
    assert (0.9, (0.9, 0.9), "precision") == (found.ratio, found.ratio_ci95, found.stopped_by)


@given(TIMES)
def test_whoever_is_first_sees_the_inverse(pairs: list[tuple[float, float]]) -> None:
    mine, theirs = zip(*pairs, strict=True)
    low, high = duel_workload("", mine, theirs, "").ratio_ci95
    swapped = duel_workload("", theirs, mine, "").ratio_ci95
    assert pytest.approx((1 / high, 1 / low)) == swapped


def test_no_time_at_all_is_one_nanosecond() -> None:
    assert (1.0, 0.5, 2.0) == (ratio_of(0, 0), ratio_of(0, 2), ratio_of(2, 0))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (RankRule.LAST, 2.0),
        (RankRule.GEOM, 1.0),
        (RankRule.MEAN, (50 + 2000) / (100 + 1000)),  # as of the two scores
    ],
)
def test_all_workloads_count_as_in_a_score(rule: RankRule, expected: float) -> None:
    found = duel_result(rule, [workload(50, 100), workload(2000, 1000)])
    assert pytest.approx((expected, expected, expected)) == (found.ratio, *found.ratio_ci95)


def test_a_duel_has_the_phases_of_a_secret_ranked_run() -> None:
    """So a kernel can't tell from them which of both it is in."""
    secret = replace(JOB, secret=True)
    assert phases_of(replace(secret, opponent=None)) == phases_of(JOB) == phases_of(secret)


def test_each_kernel_is_tested_alone_and_both_are_timed_together() -> None:
    first, second = authors = authors_of(JOB)
    steps = steps_of(JOB, authors)
    assert [(Phase.TEST, (first,)), (Phase.TEST, (second,)), (Phase.LEADERBOARD, authors)] == [
        (step.phase, step.authors) for step in steps
    ]
    assert [False, True, False] == [step.is_of_opponent for step in steps]


def test_both_are_built_and_tested_and_share_the_time_of_the_timed_phases() -> None:
    assert (1, 110) == (limit_s(JOB, Phase.TEST), limit_s(JOB, Phase.LEADERBOARD))
    assert 2 * (1000 + 1) + 110 == all_limits_s(JOB) == JOB.longest_s
    alone = replace(JOB, opponent=None)
    assert (100, 1101, 1101) == (
        limit_s(alone, Phase.LEADERBOARD),
        all_limits_s(alone),
        alone.longest_s,
    )


def test_sampling_is_to_be_precise_and_never_less_than_asked() -> None:
    usual, strict = rules_of(SamplingRules()), rules_of(SamplingRules(target_relative_ci=0.001))
    assert (0.005, 8.0, 0.001) == (
        usual.target_relative_ci,
        usual.wall_cap_s,
        strict.target_relative_ci,
    )


def test_scripts_have_no_duel() -> None:
    script = replace(JOB, problem=replace(JOB.problem, harness=HarnessKind.SCRIPT))
    assert "needs a problem that is judged natively" in why_no_duel(script)
    assert ("", "") == (why_no_duel(JOB), why_no_duel(replace(script, opponent=None)))
