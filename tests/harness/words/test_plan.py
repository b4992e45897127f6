"""A plan answers what is asked of a job, once."""

from dataclasses import replace

import pytest

from kernelbot.harness.words.plan import Plan, is_disturbed_by_forks
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    SourceFile,
    Vendor,
)
from tests.harness.jobs import SORT, a_job

JOB = a_job(SORT)


def with_problem(**changes: object) -> JobSpec:
    problem: ProblemSpec = replace(JOB.problem, **changes)  # type: ignore[arg-type]  # any field
    return replace(JOB, problem=problem)


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [
        (Vendor.CPU, (False, "cpu", "gloo")),
        (Vendor.NVIDIA, (True, "cuda", "nccl")),
        (Vendor.AMD, (True, "cuda", "nccl")),
    ],
)
def test_where_runners_compute_and_how_ranks_communicate(
    vendor: Vendor, expected: tuple[bool, str, str]
) -> None:
    plan = Plan.for_job(replace(JOB, device=DeviceSpec("x", vendor)))
    assert expected == (plan.on_gpu, plan.device, plan.backend)


def test_how_many_ranks_there_are_at_most() -> None:
    cases = tuple(Case({"world_size": size}) for size in (2, 4))
    plan = Plan.for_job(with_problem(multi_gpu=True, tests=cases, benchmarks=cases))
    assert (True, 4, 4) == (plan.has_ranks, plan.most_ranks, plan.gpus)
    alone = Plan.for_job(JOB)
    assert (False, 1, 1) == (alone.has_ranks, alone.most_ranks, alone.gpus)


def test_a_job_with_an_opponent_is_a_duel() -> None:
    duel = replace(JOB, opponent=SourceFile("submission.py", SORT))
    assert [False, True] == [Plan.for_job(job).is_duel for job in (JOB, duel)]


def test_only_a_compiled_problem_names_its_outputs() -> None:
    compiled = with_problem(lang=Lang.CU, config=BuildConfig(outputs=(1,)))
    assert [None, (1,)] == [Plan.for_job(job).outputs for job in (JOB, compiled)]


def test_the_seed_of_a_public_run_is_mixed_into_none() -> None:
    jobs = (replace(JOB, seed=7, secret=False), replace(JOB, seed=7, secret=True))
    assert [None, 7] == [Plan.for_job(job).secret_seed for job in jobs]


def test_a_cache_that_is_configured_stays() -> None:
    plan = Plan.for_job(JOB)
    told = plan.with_cache_bytes(5)
    assert (5, 5) == (told.job.device.cache_bytes, told.with_cache_bytes(6).job.device.cache_bytes)


@pytest.mark.parametrize(
    ("mode", "vendor", "expected"),
    [
        (Mode.TEST, Vendor.CPU, False),
        (Mode.BENCHMARK, Vendor.CPU, True),
        (Mode.LEADERBOARD, Vendor.CPU, True),
        (Mode.PROFILE, Vendor.CPU, True),
        (Mode.TEST, Vendor.NVIDIA, True),
    ],
)
def test_beside_tests_on_a_processor_alone_processes_are_forked_ahead(
    mode: Mode, vendor: Vendor, expected: bool
) -> None:
    job = replace(JOB, mode=mode, device=DeviceSpec("x", vendor))
    assert expected == is_disturbed_by_forks(job)


def test_a_build_is_disturbed_by_no_fork() -> None:
    job = replace(JOB, mode=Mode.LEADERBOARD, build_only=True)
    assert not is_disturbed_by_forks(job)
