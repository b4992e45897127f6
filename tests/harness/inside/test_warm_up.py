"""Nothing is left of what a fork does while it waits."""

import subprocess
import sys

LEAVES = """
import threading
from pathlib import Path
import numpy as np
import kernelbot.harness.judge.warm_up
from kernelbot.harness.inside.warm_up import start_a_thread, warm_up

def state():
    return (
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        repr(np.random.get_state(legacy=False)["state"]),
    )

before = state()
warm_up()
kernelbot.harness.judge.warm_up.warm_up()
start_a_thread()
print(before == state())
"""


def test_warming_up_leaves_no_descriptor_no_thread_and_no_random_state() -> None:
    """In a process of its own: here a host of other tests may have threads."""
    assert "True\n" == subprocess.check_output([sys.executable, "-c", LEAVES], text=True)
