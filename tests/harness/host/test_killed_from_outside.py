"""Processes that something outside kills, as the kernel does when memory runs out: never a verdict
on the author, who did nothing."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.data import wire
from kernelbot.harness.host.cancellation import AttemptLost
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.judge_zygote import JudgeZygote
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.protocol import Mode, ProgressEvent, Verdict
from kernelbot.protocol.process_names import ProcessName
from tests.harness.jobs import SORT, a_job
from tests.support.exhaustive import cases

# Each run has test_a_worker_killed_at_a_gate (worker/test_durability.py)
pytestmark = pytest.mark.exhaustive

ROUNDS = 3
PARTS = (
    *(ProcessName.JUDGES, ProcessName.JUDGE, "bwrap"),
    *(ProcessName.FORKER, ProcessName.INIT, ProcessName.RUNNER, ProcessName.CAGE),
)
NEITHER = "nobody is blamed"


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


def quiet(_event: ProgressEvent) -> None:
    return


@pytest.mark.parametrize("part", cases(PARTS, always=[ProcessName.RUNNER]))
def test_a_kill_at_any_moment_is_nobodys_fault(host: Host, part: str) -> None:
    others = set(_every_process_below(os.getpid()))
    assert Verdict.ACCEPTED == host.judge(a_job(SORT), quiet).verdict
    ends = [_judged_while_killing(host, part, others) for _ in range(ROUNDS)]
    assert set() == set(ends) - {Verdict.ACCEPTED, NEITHER}
    assert Verdict.ACCEPTED == host.judge(a_job(SORT), quiet).verdict


@pytest.mark.exhaustive
def test_a_lost_attempt_stands_in_the_result_of_the_next(host: Host) -> None:
    others = _judges_zygotes()
    job = a_job(SORT)
    assert Verdict.ACCEPTED == host.judge(job, quiet).verdict
    (zygote,) = _judges_zygotes() - others
    os.kill(zygote, signal.SIGKILL)
    result = host.judge(job, quiet)
    assert (Verdict.ACCEPTED, 1) == (
        result.verdict,
        sum("judged twice, as the first attempt was lost" in note for note in result.system.notes),
    )


def test_a_zygote_is_known_to_have_ended_before_the_kernel_is_done_with_it() -> None:
    others = _judges_zygotes()
    runners, theirs = wire.pair()
    zygote = JudgeZygote("bare", {}, theirs)
    try:
        zygote.wait_ready(60)
        assert not zygote.has_ended()
        (pid,) = _judges_zygotes() - others
        os.kill(pid, signal.SIGKILL)
        assert zygote.has_ended()
    finally:
        zygote.close()
        runners.close()


def _judged_while_killing(host: Host, part: str, others: set[int]) -> str:
    done = threading.Event()
    killer = threading.Thread(target=_kill_one, args=(part, others, done))
    killer.start()
    try:
        result = host.attempt(a_job(SORT, mode=Mode.BENCHMARK), quiet)
    except AttemptLost:
        return NEITHER
    finally:
        done.set()
        killer.join()
    said = result.failure.message if result.failure else ""
    return result.verdict if result.verdict is Verdict.ACCEPTED else f"{result.verdict}: {said}"


def _kill_one(part: str, others: set[int], done: threading.Event) -> None:
    """Once, somewhere in the second that judging takes."""
    if done.wait(random.random() * 0.7):
        return
    deadline = time.monotonic() + 60
    while not done.is_set() and time.monotonic() < deadline:
        if found := [pid for pid in _members(part) if pid not in others]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(found), signal.SIGKILL)
            return


def _judges_zygotes() -> set[int]:
    """Also those of hosts that other tests still need."""
    return {pid for pid in children_of(os.getpid()) if _name(pid) == ProcessName.JUDGES}


def _members(part: str) -> list[int]:
    """Processes of that name below this one."""
    return [pid for pid in _every_process_below(os.getpid()) if _name(pid) == part]


def _every_process_below(pid: int) -> list[int]:
    found = list(children_of(pid))
    return [*found, *(below for child in found for below in _every_process_below(child))]


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
