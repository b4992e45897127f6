"""Holding a runner still: while its processes are frozen, none of them can compute.

The judge writes a call's data into shared memory and reads the output out of the runner's own
memory while the whole tree is frozen. So nothing can be computed before the clock has started,
and nothing after it has stopped, whatever the author's code did to the runner.

If there is no freezer, stop signals stand in. A process can undo these, so they hold nothing
that tries; whoever relies on them takes the time from before the data appears.
"""

import bisect
import contextlib
import os
import signal
import time
from collections.abc import Iterator

from kernelbot.harness.sandbox.freezer import Freezer, NotFrozen

_PATIENCE_S = 5.0
"""For all of a tree's processes together."""
_PAUSE_S = 2e-5
_PF_EXITING = 0x4
"""A flag of proc(5): the process has begun to end."""
_KILL_BIT = 1 << (signal.SIGKILL - 1)
_AT_REST = frozenset("TtZXx")
"""States of proc(5) in which a thread executes nothing."""


class RunnerTree:
    """All processes below a runner's init, which itself is ours and stays awake."""

    def __init__(self, init_pid: int, main_pid: int, freezer: Freezer | None = None) -> None:
        """`freezer`: of all those processes; None if there is none to be had."""
        self._init_pid = init_pid
        self._main_pid = main_pid
        self._freezer = freezer
        self._stopped: list[int] = []

    @property
    def is_certain(self) -> bool:
        """Whether nothing in the tree can undo a halt."""
        return self._freezer is not None

    def halt(self) -> None:
        """Return once no process runs. Raises `NotFrozen` if that can't be had in time."""
        if self._freezer is not None:
            self._freezer.freeze(_PATIENCE_S)
        else:
            self._stop_all()

    def resume(self) -> None:
        """Let all go on."""
        if self._freezer is not None:
            self._freezer.thaw()
        for pid in reversed(self._stopped):  # the main process last
            _signal(pid, signal.SIGCONT)
        self._stopped = []

    def _stop_all(self) -> None:
        """A stopped process can't fork, so that none is missed of those that stay stopped."""
        deadline = time.monotonic() + _PATIENCE_S
        _signal(self._main_pid, signal.SIGSTOP)
        self._stopped = []
        waiting = list(children_of(self._init_pid)) or [self._main_pid]
        while waiting:
            pid = waiting.pop()
            if pid != self._main_pid:
                _signal(pid, signal.SIGSTOP)
            self._stopped.append(pid)
            _wait_until_at_rest(pid, deadline)
            waiting.extend(children_of(pid))


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    text = _read(f"/proc/{pid}/stat")
    return bool(text) and text[text.rfind(b")") + 2 : text.rfind(b")") + 3] not in b"ZXx"


def is_ending(pid: int) -> bool:
    """Whether a process has ended, ends, or is about to, because it was killed."""
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return True
    state, *fields = stat[stat.rfind(b")") + 2 :].split()
    if state in b"ZXx" or int(fields[5]) & _PF_EXITING:
        return True
    lines = _read(f"/proc/{pid}/status").splitlines()
    pending = [int(line[7:], 16) for line in lines if line[:7] in (b"SigPnd:", b"ShdPnd:")]
    return any(mask & _KILL_BIT for mask in pending)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (called for every timed call)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 14)
    except OSError:
        return b""
    finally:
        os.close(fd)


def children_of(pid: int) -> Iterator[int]:
    """The processes that one has started and that are there; none of one that has ended."""
    for thread in _threads(pid):
        for child in _read(f"/proc/{pid}/task/{thread}/children").split():
            yield int(child)


def _wait_until_at_rest(pid: int, deadline: float) -> None:
    while not all(_at_rest(pid, thread) for thread in _threads(pid)):
        if time.monotonic() > deadline:
            raise NotFrozen(f"A runner's processes could not be stopped within {_PATIENCE_S:g} s.")
        time.sleep(_PAUSE_S)


def _at_rest(pid: int, thread: str) -> bool:
    text = _read(f"/proc/{pid}/task/{thread}/stat")
    state = text[text.rfind(b")") + 2 : text.rfind(b")") + 3].decode()
    return not state or state in _AT_REST


def stretches_of_file(pid: int, inode: int) -> list[tuple[int, int]]:
    """Where a process has mapped the file of that inode: first address and the one after the last,
    in order and apart from each other. Looks once, however many mappings there are."""
    maps, needle = _maps(pid), f" {inode} ".encode()
    found, at = [], maps.find(needle)
    while at >= 0:
        line = maps[maps.rfind(b"\n", 0, at) + 1 : at + len(needle)].split()
        if line[4:] == [needle.strip()]:
            low, high = line[0].split(b"-")
            found.append((int(low, 16), int(high, 16)))
        at = maps.find(needle, at + 1)
    return found


def is_within(address: int, size_bytes: int, stretches: list[tuple[int, int]]) -> bool:
    """Whether a piece of memory has a byte in one of the stretches, which are in order."""
    index = bisect.bisect_left(stretches, (address + size_bytes, 0))
    return size_bytes > 0 and index > 0 and stretches[index - 1][1] > address


def _maps(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:  # noqa: PTH123 (called for timed calls)
            return file.read()
    except OSError:
        return b""
