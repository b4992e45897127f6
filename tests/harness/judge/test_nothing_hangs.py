"""Runners that die, flood, hold the channel or leave processes behind: noticed at once."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.protocol import Mode, Phase, ProblemSpec, ProgressEvent, RunResult, Timeouts, Verdict
from kernelbot.protocol.process_names import ProcessName
from tests.exploits.entries import CORPUS
from tests.harness.jobs import a_job, a_problem
from tests.support.exhaustive import few

AT_ONCE_S = 15.0
"""Far below the phases' time limits together."""
ENDLESS = Timeouts(test_s=600, benchmark_s=600, ranked_s=600, compile_s=600)
"""Longer than pytest waits for a test: who waits for a limit fails it."""
UNTIL_THE_NEXT_S = 5.0
"""How long after a phase's deadline the next submission starts at the latest."""
LATE = "import numpy as np\ncalls = 0\ndef custom_kernel(data):\n    global calls\n    calls += 1\n"
"""Right in the test phase and in the first timed calls, and then:"""


def judge(
    host: Host,
    source: str,
    mode: Mode = Mode.BENCHMARK,
    problem: ProblemSpec = a_problem(timeouts=ENDLESS),
) -> RunResult:
    def quiet(_event: ProgressEvent) -> None:
        return

    return host.judge(a_job(source, mode=mode, problem=problem), quiet)


@pytest.mark.parametrize(
    ("end", "said"),
    few(
        [
            ("ctypes.string_at(0)", "SIGSEGV"),
            ("os._exit(3)", "exit code 3"),
            ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ],
        1,
    ),
)
def test_a_death_in_a_timed_call_keeps_the_tests(host: Host, end: str, said: str) -> None:
    source = (
        f"import ctypes, os\n{LATE}    if calls > 3:\n        {end}\n    return np.sort(data)\n"
    )
    result = judge(host, source)
    assert (Verdict.RUNTIME_ERROR, Phase.TEST, Verdict.ACCEPTED) == (
        result.verdict,
        result.phases[0].phase,
        result.phases[0].verdict,
    )
    assert result.failure is not None
    assert said in result.failure.message


def test_grandchildren_die_with_their_phase(host: Host) -> None:
    name = f"left{os.getpid()}"
    source = f"""
import ctypes, os, time
import numpy as np
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
        time.sleep(600)
    os._exit(0)
def custom_kernel(data):
    return np.sort(data)
"""
    judge(host, source, Mode.TEST)
    assert [] == [path for path in Path("/proc").glob("[0-9]*/comm") if name in _text(path)]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def test_a_flooded_channel_is_a_violation(host: Host) -> None:
    source = """
import os, socket, stat
import numpy as np
for fd in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.set_blocking(fd, False)
            os.write(fd, b"x" * (1 << 20))
    except OSError:
        pass
def custom_kernel(data):
    return np.sort(data)
"""
    assert Verdict.RULE_VIOLATION == judge(host, source).verdict


@pytest.mark.timed
def test_a_held_channel_is_a_time_limit(host: Host) -> None:
    source = """
import os, stat
def custom_kernel(data):
    for fd in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.set_blocking(fd, True)
                os.read(fd, 1)  # nobody is going to say anything
        except OSError:
            pass
"""
    start = time.monotonic()
    result = judge(host, source, problem=a_problem())
    assert Verdict.TIME_LIMIT == result.verdict
    assert time.monotonic() - start < AT_ONCE_S


@pytest.mark.timed
@pytest.mark.parametrize("path", sorted(CORPUS.glob("row_66_*.py")), ids=lambda path: path.stem)
@pytest.mark.exhaustive
def test_nobody_is_held_up_beyond_the_time_limits(host: Host, path: Path) -> None:
    problem = a_problem()
    start = time.monotonic()
    judge(host, path.read_text(), problem=problem)
    limits_s = problem.timeouts.test_s + problem.timeouts.benchmark_s
    assert time.monotonic() - start < limits_s + UNTIL_THE_NEXT_S


@pytest.mark.parametrize("part", [ProcessName.JUDGES, ProcessName.FORKER])
@pytest.mark.exhaustive
def test_when_what_starts_judges_or_runners_was_killed_others_are_started(part: str) -> None:
    others = _below(os.getpid(), part)  # of hosts that other tests still need
    host = Host()
    source = "import numpy as np\ndef custom_kernel(data):\n    return np.sort(data)\n"
    try:
        verdicts = [judge(host, source, Mode.TEST).verdict]
        killed = set(_below(os.getpid(), part)) - set(others)
        for pid in killed:
            with contextlib.suppress(ProcessLookupError):  # gone with the one before
                os.kill(pid, signal.SIGKILL)
        verdicts.append(judge(host, source, Mode.TEST).verdict)
    finally:
        host.close()
    assert killed
    assert [Verdict.ACCEPTED, Verdict.ACCEPTED] == verdicts


KILLED = """
from kernelbot.harness.host.host import Host
from tests.harness.jobs import a_job

host = Host()
source = "import time\\ndef custom_kernel(data):\\n    time.sleep(60)\\n"
print("ready", flush=True)
host.judge(a_job(source), lambda event: print(event.kind, flush=True))
"""


@pytest.mark.timed  # alone, since others' judges have control groups as well
@pytest.mark.skipif(not cgroups.detect().parents, reason="no writable cgroup here")
def test_a_host_that_was_killed_leaves_no_control_group() -> None:
    parents = set(cgroups.detect().parents.values())

    def groups() -> set[Path]:
        return {group for parent in parents for group in parent.glob("kernelbot-*")}

    others: set[Path] = set()
    while others != (now := groups()):  # the host of the tests before makes its next judge ready
        others = now
        time.sleep(1)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, env=env) as host:
        deadline = time.monotonic() + 60
        while not (made := groups() - others) and time.monotonic() < deadline:
            time.sleep(0.01)
        host.kill()
    while made & groups() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert made
    assert set() == made & groups()


def _below(pid: int, part: str) -> list[int]:
    """Processes of that name below `pid`; others come and go meanwhile."""
    found = []
    for child in children_of(pid):
        with contextlib.suppress(OSError):
            if part == Path(f"/proc/{child}/comm").read_text().strip():
                found.append(child)
        found += _below(child, part)
    return found
