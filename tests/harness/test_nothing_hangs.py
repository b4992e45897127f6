"""Runners that die, flood, hold the channel or leave processes behind: noticed at once."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.host import Host
from kernelbot.harness.stillness import children_of
from kernelbot.protocol import Mode, Phase, ProgressEvent, RunResult, Verdict
from tests.harness.jobs import a_job

AT_ONCE_S = 15.0
"""Far below the phases' time limits together."""
LATE = "import numpy as np\ncalls = 0\ndef custom_kernel(data):\n    global calls\n    calls += 1\n"
"""Right in the test phase and in the first timed calls, and then:"""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


def judge(host: Host, source: str, mode: Mode = Mode.BENCHMARK) -> tuple[RunResult, float]:
    def quiet(_event: ProgressEvent) -> None:
        return

    start = time.monotonic()
    return host.judge(a_job(source, mode=mode), quiet), time.monotonic() - start


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 11)", "SIGSEGV"),
        ("ctypes.string_at(0)", "SIGSEGV"),
    ],
)
def test_a_death_in_a_timed_call_keeps_the_tests(host: Host, end: str, said: str) -> None:
    source = (
        f"import ctypes, os\n{LATE}    if calls > 6:\n        {end}\n    return np.sort(data)\n"
    )
    result, took_s = judge(host, source)
    assert (Verdict.RUNTIME_ERROR, Phase.TEST, Verdict.ACCEPTED) == (
        result.verdict,
        result.phases[0].phase,
        result.phases[0].verdict,
    )
    assert result.failure is not None
    assert said in result.failure.message
    assert took_s < AT_ONCE_S


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
    _, took_s = judge(host, source, Mode.TEST)
    assert [] == [path for path in Path("/proc").glob("[0-9]*/comm") if name in _text(path)]
    assert took_s < AT_ONCE_S


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
    result, took_s = judge(host, source)
    assert Verdict.RULE_VIOLATION == result.verdict
    assert took_s < AT_ONCE_S


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
    result, took_s = judge(host, source)
    assert Verdict.TIME_LIMIT == result.verdict
    assert took_s < AT_ONCE_S


@pytest.mark.parametrize("part", ["judges", "forker"])
def test_when_what_starts_judges_or_runners_was_killed_others_are_started(part: str) -> None:
    others = _below(os.getpid(), part)  # of hosts that other tests still need
    host = Host()
    source = "import numpy as np\ndef custom_kernel(data):\n    return np.sort(data)\n"
    try:
        verdicts = [judge(host, source, Mode.TEST)[0].verdict]
        killed = set(_below(os.getpid(), part)) - set(others)
        for pid in killed:
            with contextlib.suppress(ProcessLookupError):  # gone with the one before
                os.kill(pid, signal.SIGKILL)
        verdicts.append(judge(host, source, Mode.TEST)[0].verdict)
    finally:
        host.close()
    assert killed
    assert [Verdict.ACCEPTED, Verdict.ACCEPTED] == verdicts


def _below(pid: int, part: str) -> list[int]:
    """Processes below `pid` in whose command the part is named; others come and go meanwhile."""
    found = []
    for child in children_of(pid):
        with contextlib.suppress(OSError):
            if part in Path(f"/proc/{child}/cmdline").read_text():
                found.append(child)
        found += _below(child, part)
    return found
