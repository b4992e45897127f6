"""Which threads compute, and how long one waits for a processor."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.timing.threads import ThreadTimes, kept_waiting_s, longest_wait_s

_TWO_OF_THREE = """
import os, threading, time
os.sched_setaffinity(0, {cpu})
def spin():
    while True: sum(range(1000))
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
threading.Thread(target=spin, daemon=True).start()
spin()
"""


@pytest.fixture
def clocks() -> Iterator[TaskClocks]:
    """Of a process with three threads, two of which compute on one processor."""
    text = _TWO_OF_THREE.replace("{cpu}", f"{{{min(os.sched_getaffinity(0))}}}")
    with subprocess.Popen([sys.executable, "-c", text]) as process:
        yield TaskClocks(process.pid)
        process.kill()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_threads_that_compute_are_counted(clocks: TaskClocks) -> None:
    times = ThreadTimes(clocks)
    wait_until(lambda: times.computed() == 2)


def test_the_longest_wait_for_a_processor_is_known(clocks: TaskClocks) -> None:
    wait_until(lambda: longest_wait_s(clocks) > 0.1)


def test_what_own_threads_computed_is_no_wait_for_others(clocks: TaskClocks) -> None:
    """`counted`: the processor time of the whole tree, of the main thread alone, or of nothing."""

    def alone() -> int:
        main = clocks.main_thread()
        return 0 if main is None else main[0]

    wait_until(lambda: kept_waiting_s(TaskClocks(clocks.main_pid, alone)) > 0.1)
    found = [TaskClocks(clocks.main_pid, counted) for counted in (lambda: 1 << 60, lambda: None)]
    assert [0.0, 0.0] == [kept_waiting_s(one) for one in found]


def test_of_a_dead_process_nothing_is_known() -> None:
    gone = TaskClocks(1 << 22)
    assert (None, 0.0) == (ThreadTimes(gone).computed(), longest_wait_s(gone))
    assert 0.0 == kept_waiting_s(gone)
