"""A halted tree computes nothing, wherever its processes hide; its memory can be read meanwhile."""

import ctypes
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.clocks import TaskClocks
from kernelbot.harness.memory import SharedBuffer
from kernelbot.harness.stillness import RunnerTree, maps_file, read_memory

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
    deadline = time.monotonic() + 10
    while clocks.tree_cpu_ns() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert before < clocks.tree_cpu_ns()


def test_a_dead_tree_is_at_rest(tree: tuple[RunnerTree, TaskClocks]) -> None:
    runner, clocks = tree
    os.kill(clocks.main_pid, 9)
    runner.halt()
    runner.resume()


def test_memory_is_read_as_it_is() -> None:
    source = ctypes.create_string_buffer(b"bytes that a process holds")
    target = ctypes.create_string_buffer(len(source))
    read_memory(os.getpid(), ctypes.addressof(source), ctypes.addressof(target), len(source))
    assert source.raw == target.raw


def test_memory_that_is_not_there_is_refused() -> None:
    target = ctypes.create_string_buffer(8)
    with pytest.raises(OSError, match="Bad address"):
        read_memory(os.getpid(), 4096, ctypes.addressof(target), 8)


def test_shared_memory_is_known_again_by_any_address() -> None:
    buffer = SharedBuffer.create(8192)
    again = mmap.mmap(buffer.fd, 8192)
    anchor = ctypes.c_char.from_buffer(again)
    inode = os.fstat(buffer.fd).st_ino
    found = maps_file(os.getpid(), ctypes.addressof(anchor), 8, inode)
    elsewhere = ctypes.create_string_buffer(8)
    missed = maps_file(os.getpid(), ctypes.addressof(elsewhere), 8, inode)
    del anchor
    again.close()
    buffer.close()
    assert (True, False) == (found, missed)
