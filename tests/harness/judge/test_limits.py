"""The limits that hold where a job is judged."""

from dataclasses import replace

import pytest

from kernelbot.harness.judge.limits import limits_of_ranks, with_limits_in_force
from kernelbot.harness.judge.problem.cage import cage_limits
from kernelbot.protocol import Case, DeviceSpec, Limits, Vendor
from tests.harness.jobs import SORT, a_job, a_problem

GIB = 1 << 30


def test_on_a_cpu_they_are_the_jobs_own() -> None:
    job = a_job(SORT)
    assert job == with_limits_in_force(job)


@pytest.mark.parametrize(("machine_gib", "expected_gib"), [(128, 32), (16, 8), (4, 4)])
def test_a_gpu_has_room_for_data_on_its_way_and_for_compilers(
    machine_gib: int, expected_gib: int
) -> None:
    device = DeviceSpec("H100", Vendor.NVIDIA)
    job = replace(a_job(SORT), device=device, limits=Limits())
    limits = with_limits_in_force(job, machine_gib * GIB).limits
    assert (expected_gib * GIB, 1024) == (limits.memory_bytes, limits.processes)
    assert 2 * GIB == limits.file_size_bytes


def test_data_that_never_passes_the_host_needs_none_of_its_memory() -> None:
    job = replace(a_job(SORT), device=DeviceSpec("H100", Vendor.NVIDIA), limits=Limits())
    limits = with_limits_in_force(job, 128 * GIB, staged=False).limits
    assert 16 * GIB == limits.memory_bytes


def test_what_is_only_built_has_room_for_a_compiler_and_no_data() -> None:
    """A preflight, or a build step: a compiler that needs 20 GiB reaches a limit."""
    device = DeviceSpec("H100", Vendor.NVIDIA)
    job = replace(a_job(SORT), device=device, limits=Limits(), build_only=True)
    assert 16 * GIB == with_limits_in_force(job, 128 * GIB).limits.memory_bytes


def test_whoever_grants_a_gpu_more_is_obeyed() -> None:
    given = replace(Limits(), memory_bytes=100 * GIB, processes=5000, file_size_bytes=3 * GIB)
    job = replace(a_job(SORT), device=DeviceSpec("MI300", Vendor.AMD), limits=given)
    assert given == with_limits_in_force(job, 64 * GIB).limits


def test_ranks_have_as_much_each_as_one_alone() -> None:
    alone = Limits()
    assert replace(
        alone,
        memory_bytes=8 * alone.memory_bytes,
        processes=8 * alone.processes,
        file_size_bytes=8 * alone.file_size_bytes,
    ) == limits_of_ranks(alone, 8)


def test_the_problems_ranks_have_as_many_tasks_and_as_much_shared_memory() -> None:
    cases = (Case({"world_size": 2}), Case({"world_size": 8}))
    problem = replace(a_problem(), tests=cases, benchmarks=cases[:1], multi_gpu=True)
    limits = cage_limits(replace(a_job(SORT), problem=problem, limits=Limits(processes=1024)))
    assert (8 * 1024, 8 * Limits().file_size_bytes) == (limits.processes, limits.file_size_bytes)
