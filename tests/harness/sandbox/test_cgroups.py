"""What control groups count, where this machine lets us make any."""

import signal
import subprocess
import sys

import pytest

from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.sandbox.cgroups import RunnerGroup

CHILD_S = 0.05
UNMISSED = f"""
import os, signal, sys, time
sys.stdin.readline()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while time.process_time() < {CHILD_S}:
        pass
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    print(int(1e9 * sum(os.times()[2:4])), flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(
    "cpuacct" not in cgroups.detect().parents, reason="no writable cgroup that counts time here"
)
def test_time_of_a_child_that_nobody_waited_for_is_counted() -> None:
    group = RunnerGroup()
    with subprocess.Popen(
        [sys.executable, "-c", UNMISSED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        group.adopt(process.pid)
        before_ns = group.cpu_time_ns()
        process.stdin.write(b"go\n")
        process.stdin.flush()
        known_to_its_parent_ns = int(process.stdout.readline())
        after_ns = group.cpu_time_ns()
        process.stdin.close()
    group.remove()
    assert before_ns is not None
    assert after_ns is not None
    assert (0, True) == (known_to_its_parent_ns, after_ns - before_ns >= CHILD_S * 1e9)


HUNGRY = """
from kernelbot.harness.sandbox import cgroups
from kernelbot.protocol import Limits
cgroups._JUDGE_BYTES = 0
assert cgroups.JudgeGroup().limit(Limits(memory_bytes=32 << 20))
eaten = bytearray(96 << 20)
print("within", flush=True)
eaten += bytearray(96 << 20)
print("beyond", flush=True)
"""


@pytest.mark.skipif("memory" not in cgroups.detect().parents, reason="no writable memory cgroup")
def test_a_judge_that_eats_memory_is_killed_alone() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HUNGRY], capture_output=True, text=True, check=False
    )
    assert (-signal.SIGKILL, "within\n") == (ended.returncode, ended.stdout)
    assert cgroups.remove_leftovers(timeout_s=60)
