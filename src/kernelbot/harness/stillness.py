"""Holding a runner still: while its processes are stopped, none of them can compute.

The judge writes a call's data into shared memory and reads the output out of the runner's own
memory while the whole tree is stopped. So nothing can be computed before the clock has started,
and nothing after it has stopped, whatever the author's code did to the runner.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator

_PATIENCE_S = 2.0
_PAUSE_S = 2e-5
_AT_REST = frozenset("TtZXx")
"""States of proc(5) in which a thread executes nothing."""


class RunnerTree:
    """All processes below a runner's init, which itself is ours and stays awake."""

    def __init__(self, init_pid: int, main_pid: int) -> None:
        self._init_pid = init_pid
        self._main_pid = main_pid
        self._stopped: list[int] = []

    def halt(self) -> None:
        """Return once every process is stopped. A stopped one can't fork: none is missed."""
        self.signal_main(signal.SIGSTOP)
        self._stopped = []
        waiting = list(children_of(self._init_pid)) or [self._main_pid]
        while waiting:
            pid = waiting.pop()
            if pid != self._main_pid:
                _signal(pid, signal.SIGSTOP)
            self._stopped.append(pid)
            _wait_until_at_rest(pid)
            waiting.extend(children_of(pid))

    def resume(self) -> None:
        """Let all go on, the main process last."""
        for pid in reversed(self._stopped):
            _signal(pid, signal.SIGCONT)
        self._stopped = []

    def signal_main(self, number: signal.Signals) -> None:
        """Signal the main process only."""
        _signal(self._main_pid, number)


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    text = _read(f"/proc/{pid}/stat")
    return bool(text) and text[text.rfind(b")") + 2 : text.rfind(b")") + 3] not in b"ZXx"


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


def _wait_until_at_rest(pid: int) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if all(_at_rest(pid, thread) for thread in _threads(pid)):
            return
        time.sleep(_PAUSE_S)


def _at_rest(pid: int, thread: str) -> bool:
    text = _read(f"/proc/{pid}/task/{thread}/stat")
    state = text[text.rfind(b")") + 2 : text.rfind(b")") + 3].decode()
    return not state or state in _AT_REST


class _Stretch(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


_readv = ctypes.CDLL(None, use_errno=True).process_vm_readv
_readv.restype = ctypes.c_ssize_t
_readv.argtypes = (
    ctypes.c_int,
    ctypes.POINTER(_Stretch),
    ctypes.c_ulong,
    ctypes.POINTER(_Stretch),
    ctypes.c_ulong,
    ctypes.c_ulong,
)


def read_memory(pid: int, address: int, target: int, size_bytes: int) -> None:
    """Copy another process's memory to `target` in ours. Raises OSError."""
    done = 0
    while done < size_bytes:
        mine = _Stretch(target + done, size_bytes - done)
        theirs = _Stretch(address + done, size_bytes - done)
        got = _readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
        if got <= 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number) if got < 0 else "nothing there")
        done += got


def maps_file(pid: int, address: int, size_bytes: int, inode: int) -> bool:
    """Whether a stretch of a process's memory is (partly) backed by the file of that inode."""
    for line in _maps(pid):
        span, _, _, _, found, *_ = line.split()
        low, high = (int(part, 16) for part in span.split(b"-"))
        if low < address + size_bytes and address < high and int(found) == inode:
            return True
    return False


def _maps(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:  # noqa: PTH123 (called for timed calls)
            return file.read().splitlines()
    except OSError:
        return []
