"""What control groups count, where this machine lets us make any."""

import subprocess
import sys

import pytest

from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.sandbox.cgroups import RunnerGroup
from kernelbot.protocol import Limits

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
    group = RunnerGroup(Limits())
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
