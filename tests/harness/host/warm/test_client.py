"""Jobs for a real warm judge, which this file's tests share."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host.warm.connection import WAITS, NoWarmJudge
from kernelbot.harness.host.warm.folder import PrivateFolder, peer_pid
from kernelbot.harness.host.warm.names import judge_name
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    Timeouts,
    Verdict,
)
from kernelbot.server.judge_once import judge_once
from kernelbot.server.warm_judge import warm_judge
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.warm import connected, end_judges

PATIENT = a_problem(timeouts=Timeouts(test_s=30, benchmark_s=30, ranked_s=30))
ENDLESS = "def custom_kernel(data):\n    while True:\n        pass\n"
NOW = "print(time.monotonic())"
SLOW = SORT.replace("    return", f"    import time; {NOW}; time.sleep(2); {NOW}\n    return")
"""Tells by the clock of all processes when it worked."""
WAIT_S = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateFolder]:
    opened = PrivateFolder.open(tmp_path_factory.mktemp("a' folder") / ("long" * 40))
    yield opened
    end_judges(opened)
    opened.close()


def judge(folder: PrivateFolder, job: JobSpec) -> tuple[RunResult, list[str]]:
    """The result, and what else the client said."""
    said: list[str] = []
    return warm_judge(folder, idle_s=120.0).judge(job, lambda _: None, said.append), said


# Each run has test_a_job_that_is_stopped_leaves_the_host_to_the_next (test_on_node.py)
@pytest.mark.exhaustive
def test_it_is_started_once_and_judges_as_a_new_one(folder: PrivateFolder) -> None:
    first, said = judge(folder, a_job(SORT))
    pid = pid_of_judge(folder)
    wrong = a_job("def custom_kernel(data):\n    return data\n")
    warm, nothing = judge(folder, wrong)
    cold = judge_once(wrong)
    assert (Verdict.ACCEPTED, 1, [], pid) == (
        first.verdict,
        len(said),
        nothing,
        pid_of_judge(folder),
    )
    assert cold.sandbox == warm.sandbox
    assert cold.verdict == warm.verdict == Verdict.WRONG_ANSWER
    assert checks(cold) == checks(warm)


@pytest.mark.exhaustive  # each run has test_one_that_always_ends_at_once_is_a_sentence
def test_one_that_ended_of_idleness_before_anybody_came_is_started_again(
    folder: PrivateFolder,
) -> None:
    real = warm_judge(folder, idle_s=120.0)
    gone = replace(real.how_to_start(), harness=(sys.executable, "-c", "pass"))
    starts = iter([gone, real.how_to_start()])
    shy = replace(real, name="shy", how_to_start=lambda: next(starts))
    said: list[str] = []
    result = shy.judge(a_job(SORT), lambda _: None, said.append)
    assert (Verdict.ACCEPTED, 2) == (result.verdict, len(said))


def test_one_that_always_ends_at_once_is_a_sentence(folder: PrivateFolder) -> None:
    real = warm_judge(folder)
    gone = replace(real.how_to_start(), harness=(sys.executable, "-c", "pass"))
    ends = replace(real, name="gone", how_to_start=lambda: gone)
    with pytest.raises(NoWarmJudge, match="ends whenever it is asked"):
        ends.judge(a_job(SORT), lambda _: None, lambda _: None)


@pytest.mark.exhaustive
def test_two_at_once_take_turns(folder: PrivateFolder) -> None:
    job = a_job(SLOW, problem=PATIENT)
    spans: list[tuple[float, float]] = []
    said: list[str] = []

    def one() -> None:
        result = warm_judge(folder).judge(job, lambda _: None, said.append)
        times_s = [float(line) for line in result.stdout.split()]
        spans.append((times_s[0], times_s[-1]))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    (_, first_end), (second_start, _) = sorted(spans)
    assert [WAITS] == [text for text in said if text == WAITS]
    assert second_start > first_end


def test_who_stops_waiting_stops_the_job(folder: PrivateFolder) -> None:
    with pytest.raises(KeyboardInterrupt):
        warm_judge(folder).judge(a_job(ENDLESS, problem=PATIENT), when_testing(stop), print)
    result, said = judge(folder, a_job(SORT))  # at once: nobody has the turn any more
    assert (Verdict.ACCEPTED, []) == (result.verdict, said)


def test_what_is_not_a_job_harms_nobody(folder: PrivateFolder) -> None:
    judge(folder, a_job(SORT))
    for garbage in (b"\xff\n", b"[" * 100_000 + b"\n", b"{}\n", b"", b"no end"):
        with connected(folder, f"{judge_name()}.sock") as sock:
            sock.sendall(garbage)
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(1 << 16):
                pass
    assert Verdict.ACCEPTED == judge(folder, a_job(SORT))[0].verdict


def test_nothing_is_judged_without_a_sandbox(folder: PrivateFolder) -> None:
    job = replace(a_job(SORT), sandbox=SandboxMode.NONE)
    with pytest.raises(NoWarmJudge, match="in the sandbox alone"):
        judge(folder, job)


@pytest.mark.exhaustive
def test_a_judge_that_is_killed_takes_all_of_the_job_with_it(folder: PrivateFolder) -> None:
    judge(folder, a_job(SORT))
    pid = pid_of_judge(folder)
    job = a_job(ENDLESS, problem=PATIENT)
    with pytest.raises(NoWarmJudge, match="ended in the middle"):
        warm_judge(folder).judge(job, when_testing(lambda: os.kill(pid, signal.SIGKILL)), print)
    assert until(lambda: processes_of_session(pid) == [])
    again, said = judge(folder, a_job(SORT))  # its socket is still there
    assert (Verdict.ACCEPTED, 1, False) == (
        again.verdict,
        len(said),
        pid == pid_of_judge(folder),
    )


@pytest.mark.exhaustive
def test_it_ends_when_nobody_has_come_for_a_while(tmp_path: Path) -> None:
    folder = PrivateFolder.open(tmp_path / "own")
    warm_judge(folder, idle_s=3.0).judge(a_job(SORT), lambda _: None, print)
    assert until(lambda: not [name for name in folder.names() if name.endswith((".sock", ".log"))])


@pytest.mark.parametrize("answer", [b"", b"what?\n", b"[]\n", b'{"result": 7}\n'])
def test_a_strange_judge_is_not_believed(tmp_path: Path, answer: bytes) -> None:
    folder = PrivateFolder.open(tmp_path / "own")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder.at(f"{judge_name()}.sock")))
        listener.listen()
        threading.Thread(target=answering, args=(listener, answer), daemon=True).start()
        with pytest.raises(NoWarmJudge):
            judge(folder, a_job(SORT))


def answering(listener: socket.socket, answer: bytes) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b'{"here": true}\n' + answer if answer else b"")


def checks(result: RunResult) -> list[object]:
    return [
        (case.spec, case.verdict, case.message) for phase in result.phases for case in phase.cases
    ]


def when_testing(act: Callable[[], None]) -> Callable[[ProgressEvent], None]:
    """Acts once the author's code is about to run."""

    def on_event(event: ProgressEvent) -> None:
        if event.kind is EventKind.PHASE_STARTED:
            act()

    return on_event


def stop() -> None:
    raise KeyboardInterrupt


def pid_of_judge(folder: PrivateFolder) -> int:
    with connected(folder, f"{judge_name()}.sock") as sock:
        return peer_pid(sock)


def processes_of_session(session: int) -> list[str]:
    """The living processes that a process which leads a session has started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(process.name)
    return found


def until(true: Callable[[], bool]) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False
