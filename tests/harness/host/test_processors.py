"""Which processors authors get, and that they keep to them."""

import os

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.host.processors import (
    author_cpus,
    gpu_thread_environment,
    thread_environment,
)
from kernelbot.protocol import ProgressEvent, Verdict
from tests.harness.jobs import a_job

ALL = sorted(os.sched_getaffinity(0))


def test_one_core_is_left_to_the_judge() -> None:
    assert tuple(ALL[1:]) == author_cpus(reserved=1, slots=1)


def test_nothing_reserved_is_nothing_pinned() -> None:
    assert () == author_cpus(reserved=0, slots=1)


def test_every_slot_keeps_a_core() -> None:
    assert () == author_cpus(reserved=len(ALL), slots=len(ALL))


@pytest.mark.parametrize(("slots", "threads"), [(1, "4"), (2, "2"), (3, "1"), (9, "1")])
def test_slots_share_the_threads(slots: int, threads: str) -> None:
    assert threads == thread_environment((0, 1, 2, 3), slots)["OMP_NUM_THREADS"]


@pytest.mark.parametrize(
    ("slots", "threads", "jobs"), [(1, "16", "4"), (8, "8", "4"), (64, "1", "1")]
)
def test_on_a_gpu_a_large_machine_starts_few_threads_and_compilers(
    monkeypatch: pytest.MonkeyPatch, slots: int, threads: str, jobs: str
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)))
    environment = gpu_thread_environment(slots)
    assert (threads, jobs) == (environment["OPENBLAS_NUM_THREADS"], environment["MAX_JOBS"])


@pytest.mark.exhaustive
@pytest.mark.skipif(len(ALL) < 2, reason="one processor can't be shared out")
def test_a_submission_has_its_cores_and_no_others() -> None:
    source = f"""
import os
import numpy as np
assert os.sched_getaffinity(0) == set({ALL[1:]}), os.sched_getaffinity(0)
assert os.environ["OMP_NUM_THREADS"] == "{len(ALL) - 1}"
os.sched_setaffinity(0, {{{ALL[0]}}})  # it succeeds and changes nothing
assert os.sched_getaffinity(0) == set({ALL[1:]}), os.sched_getaffinity(0)
def custom_kernel(data):
    return np.sort(data)
"""

    def quiet(_event: ProgressEvent) -> None:
        return

    host = Host()
    try:
        result = host.judge(a_job(source), quiet)
    finally:
        host.close()
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.failure)
