"""Which phases a job has, of which cases, for how long, and on how many GPUs."""

from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import Case, JobSpec, Mode, Phase, RankRule, SourceFile, Timeouts, Vendor
from kernelbot.protocol.phases import (
    all_limits_s,
    cases_of,
    judged_mode,
    limit_s,
    longest_turn_wait_s,
    most_gpus,
    most_ranks,
    phases_of,
    world_size,
)
from tests.harness.jobs import SORT, a_job, a_problem

PROBLEM = a_problem(timeouts=Timeouts(test_s=1, benchmark_s=10, ranked_s=100, compile_s=1000))


def job(mode: Mode, **changes: Any) -> JobSpec:
    return replace(a_job(SORT, mode=mode, problem=PROBLEM), **changes)


DUEL = job(Mode.LEADERBOARD, opponent=SourceFile("other.py", SORT))


@pytest.mark.parametrize(
    ("mode", "timed"),
    [
        (Mode.TEST, ()),
        (Mode.BENCHMARK, (Phase.BENCHMARK,)),
        (Mode.LEADERBOARD, (Phase.LEADERBOARD,)),
        (Mode.PROFILE, (Phase.PROFILE,)),
    ],
)
def test_each_mode_is_tested_first(mode: Mode, timed: tuple[Phase, ...]) -> None:
    assert (Phase.TEST, *timed) == phases_of(job(mode))


def test_a_build_step_has_no_phase() -> None:
    assert () == phases_of(job(Mode.LEADERBOARD, build_only=True))


@pytest.mark.parametrize(
    ("mode", "secret", "expected"),
    [
        (Mode.LEADERBOARD, False, Mode.TEST),
        (Mode.LEADERBOARD, True, Mode.LEADERBOARD),
        (Mode.BENCHMARK, False, Mode.BENCHMARK),
    ],
)
def test_only_secret_data_is_ranked(mode: Mode, secret: bool, expected: Mode) -> None:
    assert expected == judged_mode(mode, secret=secret)


@pytest.mark.parametrize(
    ("rule", "phase", "numbers"),
    [
        (RankRule.LAST, Phase.TEST, [0, 1, 2]),
        (RankRule.LAST, Phase.LEADERBOARD, [2]),
        (RankRule.GEOM, Phase.LEADERBOARD, [0, 1, 2]),
    ],
)
def test_cases_have_their_number_in_the_problem(
    rule: RankRule, phase: Phase, numbers: list[int]
) -> None:
    benchmarks = (*PROBLEM.benchmarks, Case({"size": 9}))
    problem = replace(PROBLEM, ranking_by=rule, benchmarks=benchmarks)
    all_of_phase = problem.tests if phase is Phase.TEST else problem.benchmarks
    expected = [(number, all_of_phase[number]) for number in numbers]
    assert expected == cases_of(problem, phase)


@pytest.mark.parametrize(("size", "ranks"), [(4, 4), (1, 1), ("4", 1), (True, 1)])
def test_ranks_are_a_whole_number(size: Any, ranks: int) -> None:
    assert ranks == world_size(Case({"world_size": size}))


FOUR, NO_SIZE = Case({"world_size": 4}), Case({"size": 1})


@pytest.mark.parametrize(
    ("multi_gpu", "tests", "benchmarks", "ranks", "gpus"),
    [
        (False, (FOUR,), (FOUR,), 1, 1),
        (False, (NO_SIZE,), (NO_SIZE,), 1, 1),
        (True, (FOUR,), (Case({"world_size": 2}),), 4, 4),
        (True, (FOUR,), (NO_SIZE,), 4, None),
        (True, (NO_SIZE,), (FOUR,), 4, None),
        (True, (), (), 1, 1),
    ],
)
def test_a_problem_of_several_gpus_takes_all_unless_each_case_says_how_many(
    multi_gpu: bool,
    tests: tuple[Case, ...],
    benchmarks: tuple[Case, ...],
    ranks: int,
    gpus: int | None,
) -> None:
    problem = replace(PROBLEM, multi_gpu=multi_gpu, tests=tests, benchmarks=benchmarks)
    assert (ranks, gpus) == (most_ranks(problem), most_gpus(problem))


@pytest.mark.parametrize(
    ("one", "phase", "expected_s"),
    [
        (job(Mode.LEADERBOARD), Phase.TEST, 1),
        (job(Mode.LEADERBOARD), Phase.LEADERBOARD, 100),
        (job(Mode.BENCHMARK), Phase.BENCHMARK, 10),
        (job(Mode.PROFILE), Phase.PROFILE, 10),
        (DUEL, Phase.TEST, 1),
        (DUEL, Phase.LEADERBOARD, 110),
    ],
)
def test_a_phase_has_its_limit_and_a_duels_both(
    one: JobSpec, phase: Phase, expected_s: float
) -> None:
    assert expected_s == limit_s(one, phase)


@pytest.mark.parametrize(
    ("one", "all_s", "longest_s"),
    [
        (job(Mode.TEST), 1001, 1101),
        (job(Mode.BENCHMARK), 1011, 1101),
        (job(Mode.LEADERBOARD), 1101, 1101),
        (job(Mode.PROFILE), 1011, 1101),
        (job(Mode.LEADERBOARD, build_only=True), 1000, 1000),
        (DUEL, 2112, 2112),
    ],
)
def test_the_limits_of_all_it_does_add_up(one: JobSpec, all_s: float, longest_s: float) -> None:
    """In whatever mode, for the longest."""
    assert (all_s, longest_s) == (all_limits_s(one), one.longest_s)


def test_only_where_processors_measure_a_turn_is_waited_for() -> None:
    on_gpu = job(Mode.TEST)
    on_gpu = replace(on_gpu, device=replace(on_gpu.device, vendor=Vendor.NVIDIA))
    assert [300.0, 0.0] == [longest_turn_wait_s(one) for one in (job(Mode.TEST), on_gpu)]
