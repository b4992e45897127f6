"""A kernel is timed in several processes, through the real harness."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.sandbox.cgroups import detect
from kernelbot.protocol import (
    Limits,
    Mode,
    ProgressEvent,
    RunResult,
    SamplingRules,
    SourceFile,
    Timeouts,
)
from tests.harness.jobs import SORT, a_job, a_problem

LOUD = SORT + "print('loaded')\n"
FAILS = """
import os
import numpy as np
def custom_kernel(data):
    if data.size >= 2000:
        print("I give up", flush=True)
        os._exit(3)
    return np.sort(data)
"""
HOARDS = SORT + "kept = np.ones(200 << 17)\n"
"""200 of 512 MiB."""
SLOW_TO_LOAD = SORT + "import time\ntime.sleep(1.2)\n"


def judged(
    host: Host, source: str, ranked_s: float = 600, opponent: str = "", processes: int = 3
) -> RunResult:
    problem = a_problem(timeouts=Timeouts(test_s=60, benchmark_s=1, ranked_s=ranked_s))
    few = SamplingRules(
        min_samples=20,
        max_samples=20,
        wall_cap_s=5.0,
        patience_s=ranked_s,
        processes=processes,
    )
    job = a_job(
        source,
        mode=Mode.LEADERBOARD,
        problem=problem,
        secret=True,
        limits=Limits(memory_bytes=512 << 20),
    )
    job = replace(job, sampling=few)
    if opponent:
        job = replace(job, opponent=SourceFile("b.py", opponent))
    return host.judge(job, quiet)


def quiet(_event: ProgressEvent) -> None:
    return


def used(result: RunResult) -> tuple[int, ...]:
    assert result.failure is None, result.failure
    return tuple(load.processes for load in result.phases[-1].workloads)


def test_a_score_is_of_several_processes_of_which_one_is_heard(host: Host) -> None:
    result = judged(host, LOUD)
    assert ((3,), 20) == (used(result), len(result.phases[-1].workloads[0].samples_ns))
    assert "loaded\n" * 2 == result.stdout  # when it was tested, and when it was timed


def test_whichever_fails_is_heard(host: Host) -> None:
    assert "I give up\n" == judged(host, FAILS).stdout


@pytest.mark.exhaustive
def test_a_duel_is_fought_by_half_as_many_pairs(host: Host) -> None:
    result = judged(host, SORT, opponent=SORT, processes=6)
    assert result.duel is not None, result.failure
    assert [3] == [load.processes for load in result.duel.workloads]


@pytest.mark.exhaustive
def test_what_is_slow_to_load_is_timed_in_one(host: Host) -> None:
    assert (1,) == used(judged(host, SLOW_TO_LOAD, ranked_s=20))


@pytest.mark.exhaustive
@pytest.mark.skipif("memory" not in detect().parents, reason="memory isn't counted here")
def test_what_needs_much_memory_is_timed_in_one(host: Host) -> None:
    assert (1,) == used(judged(host, HOARDS))
