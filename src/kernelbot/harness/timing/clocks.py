"""The judge's own measurement of a runner: CPU clocks and waiting times of the operating system.

A process can lie about how long it took, but not about the processor time that it used.
"""

import contextlib
import ctypes
import mmap
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kernelbot.harness.inside import kernel_files
from kernelbot.harness.sandbox.runner_tree import children_of

_PROCESS_CLOCK = 2
"""CPUCLOCK_SCHED of a whole process, see clock_gettime(2) and Linux' posix-cpu-timers."""
_OWN_COUNTS = "/proc/thread-self/schedstat"
_FALLBACK_CACHE_BYTES = 32 << 20


class TaskClocks:
    """Clocks of a runner's process and all below it. Reads are None if /proc refuses."""

    def __init__(self, main_pid: int, counted: Callable[[], int | None] = lambda: None) -> None:
        """`counted`: the operating system's total for the whole tree; None if there is none."""
        self.main_pid = main_pid
        self._counted = counted
        self._schedstat: int | None = None

    def tree_pids(self) -> Iterator[int]:
        """The process ids of the runner and all processes below it."""
        pids = [self.main_pid]
        while pids:
            pid = pids.pop()
            yield pid
            pids.extend(children_of(pid))

    def tree_cpu_ns(self) -> int:
        """Processor time so far of the runner, its threads, and all processes below it.

        Without a total from the operating system, processes that have ended are missing.
        """
        counted = self._counted()
        if counted is not None:
            return counted
        total = 0
        for pid in self.tree_pids():
            with contextlib.suppress(OSError):
                total += time.clock_gettime_ns((~pid << 3) | _PROCESS_CLOCK)
        return total

    @property
    def tells_waits(self) -> bool:
        """Whether the system counts the main thread's waiting, and the processor time of all that
        may have caused it, processes that have ended included."""
        found = self.main_thread()
        return found is not None and found[0] > 0 and self._counted() is not None

    def main_thread(self) -> tuple[int, int] | None:
        """The main thread's ns on a processor, and its ns ready to run but waiting for one.

        Exact while the thread is blocked.
        """
        try:
            on_cpu, waiting, _ = os.pread(self.schedstat_fd(), 100, 0).split()
        except (OSError, ValueError):
            return None
        return int(on_cpu), int(waiting)

    def schedstat_fd(self) -> int:
        """A descriptor of the main thread's schedstat file; -1 if there is none."""
        if self._schedstat is None:
            path = f"/proc/{self.main_pid}/task/{self.main_pid}/schedstat"
            try:
                self._schedstat = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return -1
        return self._schedstat

    def close(self) -> None:
        """Close the descriptors."""
        if self._schedstat is not None:
            os.close(self._schedstat)
            self._schedstat = None

    def last_cpu(self) -> int | None:
        """The processor the main thread ran on last."""
        try:
            text = kernel_files.read(f"/proc/{self.main_pid}/task/{self.main_pid}/stat")
            return int(text.rpartition(")")[2].split()[36])
        except (OSError, ValueError, IndexError):
            return None

    def processors(self) -> int:
        """How many processors the runner may use at once; 1 if it is dead."""
        try:
            return len(os.sched_getaffinity(self.main_pid))
        except ProcessLookupError:
            return 1


def own_processors(main_pid: int) -> frozenset[int]:
    """Our processors that a runner may not use; empty if it may use all, or is dead."""
    try:
        return frozenset(os.sched_getaffinity(0) - os.sched_getaffinity(main_pid))
    except ProcessLookupError:
        return frozenset()


def waited_ns(counted: bytes) -> int:
    """How long a thread was ready to run but waited for a processor; 0 if that is unknown."""
    parts = counted.split()
    return int(parts[1]) if len(parts) == 3 else 0


@contextlib.contextmanager
def urgent(processors: frozenset[int] = frozenset()) -> Iterator[None]:
    """Give this thread priority, if the system allows it: only for short sections.

    Only on `processors`, if given: else it might take a processor from a runner.
    """
    allowed = os.sched_getaffinity(0)
    if processors:
        os.sched_setaffinity(0, processors)
    try:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        if processors:
            os.sched_setaffinity(0, allowed)


class OwnDelay:
    """How long this thread is ready to run but waits for a processor, from `begin` until `end`, of
    which each costs a system call. A context manager, for this thread alone."""

    def __enter__(self) -> "OwnDelay":
        self._begun = self._ended = b""
        try:
            self._fd = os.open(_OWN_COUNTS, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)

    def begin(self) -> None:
        """Count from here."""
        self._begun = self._counted()

    def end(self) -> None:
        """Count until here."""
        self._ended = self._counted()

    @property
    def waited_ns(self) -> int:
        """How long it was; 0 if that is unknown."""
        return max(waited_ns(self._ended) - waited_ns(self._begun), 0)

    def _counted(self) -> bytes:
        return b"" if self._fd < 0 else os.pread(self._fd, 100, 0)


def own_delay_ns() -> int:
    """How long this thread was ready to run but waited for a processor; 0 if that is unknown."""
    try:
        with open(_OWN_COUNTS, "rb") as file:  # noqa: PTH123 (called for every call)
            return waited_ns(file.read())
    except OSError:
        return 0


def last_level_cache_bytes() -> int:
    """Size of this machine's largest cache according to sysfs; 32 MiB if unknown."""
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text().strip()
            factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
            sizes.append(int(text.rstrip("KMG")) * factor)
    return max(sizes) or _FALLBACK_CACHE_BYTES


class CacheFlusher:
    """Evicts a processor's caches by reading a buffer of twice the last level.

    It runs in the judge, on the processor the runner used last, while the runner waits: the
    author's code can't influence it. Most jobs flush nothing, so it takes no memory before it is
    `prepare`d.
    """

    def __init__(self, cache_bytes: int) -> None:
        self._size = 2 * cache_bytes
        self._buffer: ctypes.Array[ctypes.c_char] | None = None
        self._scan = ctypes.CDLL(None).memchr
        self._scan.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
        self._scan.restype = ctypes.c_void_p

    def prepare(self) -> None:
        """Take the memory, unless it is there, which may need a tenth of a second: before anything
        is timed."""
        if self._buffer is not None:
            return
        memory = mmap.mmap(-1, self._size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with contextlib.suppress(OSError):  # in pages of 2 MiB, unless the kernel has none
            memory.madvise(mmap.MADV_HUGEPAGE)
        self._buffer = (ctypes.c_char * self._size).from_buffer(memory)
        # Written once: else the operating system would use one page of zeros for all of it.
        ctypes.memset(self._buffer, 1, self._size)

    def flush(self, cpu: int | None) -> None:
        """Read the buffer on `cpu` (None: on this thread's processor)."""
        if self._buffer is None:
            raise AssertionError("it is prepared before anything is timed")
        allowed = os.sched_getaffinity(0)
        moved = cpu is not None and cpu in allowed
        if moved and cpu is not None:
            os.sched_setaffinity(0, {cpu})
        self._scan(self._buffer, 0, self._size)
        if moved:
            os.sched_setaffinity(0, allowed)
