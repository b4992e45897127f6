"""Jobs of a node in turn, judged by the host that stays there."""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.node import NodeOptions, WarmHost
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.host.warm.on_node import NoHost, judge_warm
from kernelbot.protocol import EventKind, JobSpec, ProgressEvent, RunResult, Timeouts, Verdict
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.warm import end_judges, pids_of_judges

PATIENT = a_problem(timeouts=Timeouts(test_s=30, benchmark_s=30, ranked_s=30))
ENDLESS = a_job("def custom_kernel(data):\n    while True:\n        pass\n", problem=PATIENT)
SLOW = a_job("import time\ntime.sleep(6)\n" + SORT, problem=PATIENT)
WAIT_S = 60.0


class Node:
    """A node with a folder for its host. `stopped`: of all its jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options = NodeOptions(
            folder / "result.json",
            locks=folder / "locks",
            build_cache=folder / "builds",
            reserved_cores=1,
        )
        self.stopped = Cancellation()

    def judge(
        self,
        job: JobSpec,
        on_testing: Callable[[], None] = lambda: None,
        *,
        idle_s: float = 120.0,
        limit_s: float = 600.0,
        lock_wait_s: float = 1.0,
    ) -> RunResult:
        """`on_testing` is called once the author's code is about to run."""

        def emit(event: ProgressEvent) -> None:
            if event.kind is EventKind.PHASE_STARTED:
                on_testing()

        warm = WarmHost(self.folder / "host", idle_s, limit_s)
        options = dataclasses.replace(self.options, lock_wait_s=lock_wait_s)
        return judge_warm(job, emit, self.stopped, warm, options)

    def sockets(self) -> list[Path]:
        """By which hosts are found; to look doesn't count as a job."""
        return list((self.folder / "host").glob("*.sock"))

    def hosts(self) -> list[int]:
        """Their processes."""
        return pids_of_judges(self.folder / "host")

    def host(self) -> int:
        """The only one."""
        (pid,) = self.hosts()
        return pid


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of all tests here, whose hosts stay from one to the next."""
    made = tmp_path_factory.mktemp("node")
    yield made
    with contextlib.closing(PrivateFolder.open(made / "host")) as opened:
        end_judges(opened)


@pytest.fixture
def node(folder: Path) -> Node:
    return Node(folder)


def until(true: Callable[[], bool]) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.exhaustive  # each run has test_a_job_that_is_stopped_leaves_the_host_to_the_next
def test_two_jobs_in_turn_are_judged_by_one_host(node: Node) -> None:
    wrong = a_job("def custom_kernel(data):\n    return data\n")
    first, host = node.judge(a_job(SORT)), node.host()
    second = node.judge(wrong)
    assert (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) == (first.verdict, second.verdict)
    assert host == node.host()


def test_a_job_that_is_stopped_leaves_the_host_to_the_next(node: Node) -> None:
    node.judge(a_job(SORT))
    host = node.host()
    with pytest.raises(Cancelled):
        node.judge(ENDLESS, node.stopped.set)
    node.stopped = Cancellation()
    assert Verdict.ACCEPTED == node.judge(a_job(SORT)).verdict
    assert host == node.host()


def test_a_job_that_is_stopped_before_it_began_is_not_judged(node: Node) -> None:
    node.stopped.set()
    with pytest.raises(Cancelled):
        node.judge(ENDLESS)


@pytest.mark.exhaustive
def test_a_host_that_is_killed_loses_the_job_that_it_has(node: Node) -> None:
    node.judge(a_job(SORT))
    host = node.host()
    with pytest.raises(AttemptLost, match="ended in the middle"):
        node.judge(ENDLESS, lambda: os.kill(host, signal.SIGKILL))
    assert Verdict.ACCEPTED == node.judge(a_job(SORT)).verdict
    assert host != node.host()


@pytest.mark.exhaustive
def test_a_host_that_is_killed_between_two_jobs_loses_none(node: Node) -> None:
    node.judge(a_job(SORT))
    host = node.host()
    os.kill(host, signal.SIGKILL)
    assert Verdict.ACCEPTED == node.judge(a_job(SORT)).verdict
    assert host != node.host()


@pytest.mark.exhaustive  # it waits until an answer is overdue
def test_a_host_that_stands_still_is_ended(node: Node) -> None:
    node.judge(a_job(SORT))
    host = node.host()
    os.kill(host, signal.SIGSTOP)
    with pytest.raises(NoHost, match="doesn't answer"):
        node.judge(a_job(SORT))
    assert Verdict.ACCEPTED == node.judge(a_job(SORT)).verdict
    assert host != node.host()


@pytest.mark.exhaustive  # each run has test_a_job_that_is_stopped_leaves_the_host_to_the_next
def test_a_host_ends_when_no_job_has_come_for_a_while(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.judge(a_job(SORT), idle_s=0.5)
    assert until(lambda: node.sockets() == [])


@pytest.mark.exhaustive
def test_a_host_that_has_lived_long_enough_finishes_what_it_has(tmp_path: Path) -> None:
    node = Node(tmp_path)
    result = node.judge(SLOW, limit_s=5.0)
    assert Verdict.ACCEPTED == result.verdict
    assert until(lambda: node.sockets() == [])


@pytest.mark.exhaustive
def test_a_host_for_other_times_is_another(node: Node) -> None:
    node.judge(a_job(SORT))
    node.judge(a_job(SORT), limit_s=500.0)
    assert 2 == len(node.hosts())


def test_a_folder_that_others_can_enter_has_no_host(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir(mode=0o755)
    with pytest.raises(NoHost, match="Other accounts can enter"):
        Node(tmp_path).judge(a_job(SORT))
