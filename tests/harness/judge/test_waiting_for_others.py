"""Calls in which the system let a kernel wait for a processor, through the real harness."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.timing.turns import Turns
from kernelbot.protocol import (
    JobSpec,
    Mode,
    RunResult,
    SamplingRules,
    Timeouts,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.waits import waited_share
from tests.harness.jobs import SORT, a_job, a_problem

SAMPLING = SamplingRules(min_samples=8, max_samples=12, wall_cap_s=1.0, warmup_s=0.0)
LONG = """
import time
import numpy as np

def custom_kernel(data):
    until = time.thread_time() + 0.01
    while time.thread_time() < until:
        pass
    return np.sort(data)
"""
TRIES = 10
"""What else the machine does decides how a single judging ends."""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    made = Host(turns=Turns(f"kernelbot-tests-{os.getpid()}"))
    judged(made, a_job(SORT))  # it starts before there are neighbours: beside them that takes long
    yield made
    made.close()


@contextmanager
def neighbours(*, apart: bool = False) -> Iterator[None]:
    """Two for each processor, which compute without end. `apart`: each is a session of its own, to
    which Linux gives as much as to the judge's; else it may give them all as much as that one."""
    loop = [sys.executable, "-c", "while True: pass"]
    count = [subprocess.Popen(loop, start_new_session=apart) for _ in range(4)]
    try:
        yield
    finally:
        for one in count:
            one.kill()
            one.wait()


def a_measured_job(source: str, opponent: str | None = None) -> JobSpec:
    problem = a_problem(timeouts=Timeouts(test_s=60, benchmark_s=60, ranked_s=60))
    problem = replace(problem, benchmarks=problem.benchmarks[:1])
    job = replace(a_job(source, mode=Mode.BENCHMARK, problem=problem), sampling=SAMPLING)
    if opponent is None:
        return job
    other = replace(job.submission, text=opponent)
    return replace(job, mode=Mode.LEADERBOARD, secret=True, seed=1, opponent=other)


def judged(host: Host, job: JobSpec) -> RunResult:
    result = host.judge(job, lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert result == held_to(job, result, 600.0)
    return result


def measured(host: Host, source: str) -> WorkloadResult:
    return judged(host, a_measured_job(source)).phases[-1].workloads[0]


@pytest.mark.exhaustive  # each run has test_a_short_kernel_hardly_waits
def test_calls_that_waited_are_repeated(host: Host) -> None:
    with neighbours():
        found = (measured(host, LONG) for _ in range(TRIES))
        assert any(load.repeated > 0 and (load.waited or 0) >= load.repeated for load in found)


@pytest.mark.exhaustive
def test_pairs_of_a_duel_are_repeated_as_pairs(host: Host) -> None:
    job = a_measured_job(LONG, LONG)
    with neighbours():
        results = (judged(host, job).duel for _ in range(TRIES))
        assert any(duel is not None and duel.workloads[0].repeated > 0 for duel in results)


@pytest.mark.exhaustive  # each run has test_a_short_kernel_hardly_waits
@pytest.mark.timed
def test_a_time_limit_that_others_used_up_is_tried_again_with_more_time(host: Host) -> None:
    """An endless loop exceeds it all the same, by what it computed itself."""
    loop = SORT.replace("    return", "    while True: pass\n    return")
    job = a_job(loop, mode=Mode.TEST, problem=a_problem(timeouts=Timeouts(test_s=1.0)))
    with neighbours(apart=True), neighbours(apart=True):
        found = (host.judge(job, lambda _event: None) for _ in range(TRIES))
        assert any(
            result.verdict is Verdict.TIME_LIMIT
            and "that it had the second time" in result.failure.message
            for result in found
            if result.failure is not None
        )


@pytest.mark.timed
def test_a_short_kernel_hardly_waits(host: Host) -> None:
    found = (measured(host, SORT) for _ in range(TRIES))
    assert any(load.waited is not None and waited_share(load) < 0.5 for load in found)
