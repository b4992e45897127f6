"""Ending a process tree where no namespace does it."""

import subprocess
import sys

from kernelbot.harness.inside.descendants import kill_all
from kernelbot.harness.sandbox.runner_tree import is_alive

PARENT_OF_A_STRANGE_NAME = """
import ctypes, os, sys, time
pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).prctl(15, b"\\xff) Z 1", 0, 0, 0)
    print(os.getpid(), flush=True)
    time.sleep(600)
sys.stdin.read()
"""


def test_whoever_has_a_name_that_is_no_text_is_ended_as_well() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT_OF_A_STRANGE_NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        kill_all(parent.pid)
        assert not is_alive(pid)
