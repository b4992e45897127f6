"""Nothing is left of what a fork does while it waits."""

import threading
from pathlib import Path

import numpy as np

from kernelbot.harness.inside.warm_up import start_a_thread, warm_up


def test_warming_up_leaves_no_descriptor_no_thread_and_no_random_state() -> None:
    def state() -> tuple[int, int, str]:
        known = np.random.get_state(legacy=False)["state"]
        return (
            len(list(Path("/proc/self/fd").iterdir())),
            threading.active_count(),
            repr(known),
        )

    before = state()
    warm_up()
    warm_up(computes=False)
    start_a_thread()
    assert before == state()
