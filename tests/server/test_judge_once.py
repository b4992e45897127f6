"""Results of harnesses that fail; for those that work see tests/cli."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.protocol import (
    DeviceSpec,
    EventKind,
    Fault,
    JobSpec,
    Mode,
    ProgressEvent,
    SourceFile,
    Timeouts,
    Vendor,
    Verdict,
    to_wire,
)
from kernelbot.server.judge_once import judge_once
from kernelbot.store.postmaster import alive
from tests.support.problems import CORRECT, sort_problem

NO_TIME = Timeouts(test_s=0.1, benchmark_s=0.1, ranked_s=0.1, compile_s=0.1)


def a_job() -> JobSpec:
    problem = replace(sort_problem().spec, timeouts=NO_TIME)
    submission = SourceFile("submission.py", CORRECT.decode())
    return JobSpec("7", problem, submission, Mode.TEST, DeviceSpec("CPU", Vendor.CPU))


def harness(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise SystemExit(7)", "The harness ended without a result (exit code 7)."),
        ("import os; os.kill(os.getpid(), 9)", "The harness ended without a result (signal 9)."),
        ("print('{}')", "The harness ended without a result (exit code 0)."),
        ("print('[')", "The harness ended without a result (exit code 0)."),
        ("print('[' * 100000)", "The harness ended without a result (exit code 0)."),
        ("import os; os.write(1, b'\\xff')", "The harness ended without a result (exit code 0)."),
    ],
)
def test_a_harness_without_a_result_is_our_fault(program: str, message: str) -> None:
    result = judge_once(a_job(), command=harness(program))
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM, message) == (
        result.verdict,
        result.failure.fault,
        result.failure.message,
    )


def test_its_last_words_are_kept() -> None:
    result = judge_once(a_job(), command=harness("raise SystemExit('the disk is full')"))
    assert result.failure is not None
    assert "the disk is full" == result.failure.evidence


@pytest.mark.exhaustive
def test_a_harness_that_hangs_is_stopped_with_its_children(tmp_path: Path) -> None:
    program = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if child := os.fork():\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(child))\n"
        "time.sleep(600)\n"
    )
    result = judge_once(a_job(), command=harness(program), slack_s=12.0)
    child = int((tmp_path / "pid").read_text())
    assert (Verdict.INTERNAL_ERROR, True) == (result.verdict, _ends(child))


def test_an_event_that_can_not_be_read_is_passed_over() -> None:
    good = ProgressEvent(EventKind.STARTED)
    lines = f"nonsense\n[1]\n{json.dumps(to_wire(good))}\n"
    program = f"import os, sys; os.write(int(sys.argv[2]), {lines.encode()!r})"
    seen: list[ProgressEvent] = []
    judge_once(a_job(), seen.append, command=harness(program))
    assert [good] == seen


def _ends(pid: int) -> bool:
    """Whether a process that was killed is gone, or a zombie that nobody reaps, within a minute."""
    for _ in range(1200):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False
