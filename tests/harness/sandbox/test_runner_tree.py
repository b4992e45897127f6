"""A halted tree computes nothing, wherever its processes hide; its memory can be read meanwhile."""

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.sandbox import cgroups
from kernelbot.harness.sandbox.cgroups import RunnerGroup
from kernelbot.harness.sandbox.runner_tree import RunnerTree, is_within, stretches_of_file
from kernelbot.harness.timing.clocks import TaskClocks

BUSY = """
import os, threading, time
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
if os.fork() == 0:
    if os.fork() == 0:
        spin()
    spin()
print("ready", flush=True)
spin()
"""
INIT = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BUSY!r}])
"""


def only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


@pytest.fixture
def tree() -> Iterator[tuple[RunnerTree, TaskClocks]]:
    with subprocess.Popen(
        [sys.executable, "-c", INIT], stdout=subprocess.PIPE, process_group=0
    ) as init:
        assert init.stdout is not None
        assert b"ready\n" == init.stdout.readline()
        clocks = TaskClocks(only_child(init.pid))
        yield RunnerTree(init.pid, clocks.main_pid), clocks
        os.killpg(init.pid, 9)


def test_nothing_computes_while_halted(tree: tuple[RunnerTree, TaskClocks]) -> None:
    runner, clocks = tree
    runner.halt()
    before = clocks.tree_cpu_ns()
    time.sleep(0.1)
    assert before == clocks.tree_cpu_ns()


def test_all_go_on_after_resume(tree: tuple[RunnerTree, TaskClocks]) -> None:
    runner, clocks = tree
    runner.halt()
    before = clocks.tree_cpu_ns()
    runner.resume()
    deadline = time.monotonic() + 60
    while clocks.tree_cpu_ns() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert before < clocks.tree_cpu_ns()


def test_who_is_only_stopped_by_signals_may_go_on(tree: tuple[RunnerTree, TaskClocks]) -> None:
    runner, clocks = tree
    runner.halt()
    before = clocks.tree_cpu_ns()
    os.kill(clocks.main_pid, signal.SIGCONT)
    deadline = time.monotonic() + 60
    while clocks.tree_cpu_ns() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (False, True) == (runner.is_certain, before < clocks.tree_cpu_ns())


def test_a_dead_tree_is_at_rest(tree: tuple[RunnerTree, TaskClocks]) -> None:
    runner, clocks = tree
    os.kill(clocks.main_pid, 9)
    runner.halt()
    runner.resume()


RESTLESS = """
import mmap, os, signal, sys
counts = memoryview(mmap.mmap(int(sys.argv[1]), 16)).cast("Q")
sys.stdin.readline()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, lambda *_: None)
if os.fork() == 0:
    while True:
        for _ in range(10_000):
            counts[1] += 1
        if os.fork():
            os._exit(0)
print("ready", flush=True)
while True:
    counts[0] += 1
"""
"""One process that counts for ever, and a line of others, each the child of one that has ended."""
needs_a_freezer = pytest.mark.skipif(
    "freezer" not in cgroups.detect().parents, reason="no writable cgroup that freezes here"
)


@dataclass(frozen=True)
class Restless:
    tree: RunnerTree
    counts: SharedBuffer
    pid: int

    def seen(self) -> bytes:
        return self.counts.read(0, 16)


@pytest.fixture
def restless() -> Iterator[Restless]:
    group = RunnerGroup()
    counts = SharedBuffer.create(16)
    command = [sys.executable, "-c", RESTLESS, str(counts.fd)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[counts.fd],
        start_new_session=True,
    ) as process:
        group.adopt(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
        process.stdout.readline()
        tree = RunnerTree(os.getpid(), process.pid, group.freezer)
        yield Restless(tree, counts, process.pid)
        tree.halt()  # so that none of the line slips through
        os.killpg(process.pid, signal.SIGKILL)
        tree.resume()
    group.remove()
    counts.close()


@needs_a_freezer
def test_no_signal_wakes_who_is_frozen(restless: Restless) -> None:
    restless.tree.halt()
    before = restless.seen()
    for number in (signal.SIGCONT, signal.SIGUSR1):
        os.kill(restless.pid, number)
    time.sleep(0.1)
    assert before == restless.seen()


@needs_a_freezer
def test_all_go_on_after_they_were_frozen(restless: Restless) -> None:
    restless.tree.halt()
    before = restless.seen()
    restless.tree.resume()
    deadline = time.monotonic() + 60
    while restless.seen() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (True, True) == (restless.tree.is_certain, before != restless.seen())


def test_shared_memory_is_known_again_by_any_address() -> None:
    buffer = SharedBuffer.create(8192)
    again = mmap.mmap(buffer.fd, 8192)
    anchor = ctypes.c_char.from_buffer(again)
    inode = os.fstat(buffer.fd).st_ino
    stretches = stretches_of_file(os.getpid(), inode)
    found = is_within(ctypes.addressof(anchor), 8, stretches)
    elsewhere = ctypes.create_string_buffer(8)
    missed = is_within(ctypes.addressof(elsewhere), 8, stretches)
    del anchor
    again.close()
    buffer.close()
    assert (True, False) == (found, missed)


@pytest.mark.parametrize(
    ("address", "size_bytes", "within"),
    [(9, 1, False), (9, 2, True), (19, 1, True), (20, 5, False), (25, 6, True), (15, 0, False)],
)
def test_one_byte_inside_is_within(address: int, size_bytes: int, within: bool) -> None:
    assert within == is_within(address, size_bytes, [(10, 20), (30, 40)])
