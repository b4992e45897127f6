"""Timed calls that get the same data again, through the real harness."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Case, Fault, Mode, ProblemSpec, RunResult, Verdict
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem

SEEDED = "np.random.default_rng(seed)"
SAID = "The data of timed calls recurs (size: 2000; seed: 1): a kernel could remember"


def problem_with(generator: str, *, knows: bool = False) -> ProblemSpec:
    """One whose data come from this generator."""
    problem = a_problem(reference=REFERENCE.replace(SEEDED, generator))
    return replace(problem, benchmarks=problem.benchmarks[:1], recurring_data=knows)


def judged(host: Host, problem: ProblemSpec, mode: Mode = Mode.BENCHMARK) -> RunResult:
    return host.judge(a_job(SORT, mode=mode, problem=problem), lambda _event: None)


@pytest.mark.exhaustive  # each run has test_a_workload_without_a_seed_is_not_ranked
def test_data_that_are_new_in_each_call_are_no_matter(host: Host) -> None:
    result = judged(host, problem_with(SEEDED), Mode.LEADERBOARD)
    assert (Verdict.ACCEPTED, "") == (result.verdict, result.recurring_data)


@pytest.mark.exhaustive  # each run has test_a_workload_without_a_seed_recurs (test_predictable.py)
def test_a_few_kinds_of_data_are_noted(host: Host) -> None:
    result = judged(host, problem_with("np.random.default_rng(seed % 8)"))
    assert (Verdict.ACCEPTED, True) == (result.verdict, result.recurring_data.startswith(SAID))
    assert result.recurring_data in result.system.notes  # a busy machine has a note as well


def test_a_workload_without_a_seed_is_not_ranked(host: Host) -> None:
    problem = a_problem(reference=REFERENCE.replace("(size, seed)", "(size, seed=7)"))
    problem = replace(problem, benchmarks=(Case({"size": 2000}),))
    result = judged(host, problem, Mode.LEADERBOARD)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "recurs (size: 2000)" in result.failure.message == result.recurring_data


@pytest.mark.exhaustive  # each run has test_a_workload_without_a_seed_is_not_ranked
def test_it_is_ranked_if_the_problem_knows(host: Host) -> None:
    problem = problem_with("np.random.default_rng(seed % 8)", knows=True)
    result = judged(host, problem, Mode.LEADERBOARD)
    assert (Verdict.ACCEPTED, "", True) == (
        result.verdict,
        result.recurring_data,
        result.score_s is not None,
    )


@pytest.mark.exhaustive
def test_data_that_differ_far_behind_what_is_sampled_are_new(host: Host) -> None:
    reference = REFERENCE.replace(
        f"    return {SEEDED}.standard_normal(size).astype(np.float32)",
        "    data = np.zeros(size * 100, np.float32)\n"
        "    data[size * 30] = np.random.default_rng(seed).random()\n"
        "    return data",
    )
    assert reference != REFERENCE
    problem = a_problem(reference=reference)
    problem = replace(problem, benchmarks=problem.benchmarks[:1])
    assert "" == judged(host, problem).recurring_data
