"""Which threads of a runner compute while it is measured."""

from collections.abc import Iterator
from pathlib import Path

from kernelbot.harness.timing.clocks import TaskClocks

_LEAST_SHARE = 0.05
"""The least part of the busiest thread's processor time: a helper that wakes up now and then
computes nothing."""


def longest_wait_s(clocks: TaskClocks) -> float:
    """How long that thread of a runner was ready to run, but had no processor, which waited the
    longest, since it began; 0 if it is dead."""
    return max((waited_ns for _, _, waited_ns in _times(clocks)), default=0) / 1e9


def kept_waiting_s(clocks: TaskClocks) -> float:
    """How long a runner's main thread was ready to run while others had its processor, since it
    began: without what its own threads and processes computed meanwhile. 0 if the system doesn't
    count all of that."""
    main = clocks.main_thread()
    if main is None or not clocks.tells_waits:
        return 0.0
    computed_ns, waited_ns = main
    return max(waited_ns - max(clocks.tree_cpu_ns() - computed_ns, 0), 0) / 1e9


class ThreadTimes:
    """The processor time of each of a runner's threads, from the moment at which this is made."""

    def __init__(self, clocks: TaskClocks) -> None:
        self._clocks = clocks
        self._before = self._on_processor()

    def computed(self) -> int | None:
        """How many threads of all its processes computed since then; None if it is dead. Those that
        have ended meanwhile aren't among them."""
        now = self._on_processor().items()
        spent = [ns - self._before.get(thread, 0) for thread, ns in now]
        least_ns = max(spent, default=0) * _LEAST_SHARE
        return sum(ns > least_ns for ns in spent) or None

    def _on_processor(self) -> dict[tuple[int, str], int]:
        return {thread: ns for thread, ns, _ in _times(self._clocks)}


def _times(clocks: TaskClocks) -> Iterator[tuple[tuple[int, str], int, int]]:
    """Each thread, its ns on a processor, and those in which it was ready but had none."""
    for pid in clocks.tree_pids():
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                on_processor, waited, _ = (task / "schedstat").read_text().split()
                yield (pid, task.name), int(on_processor), int(waited)
        except (OSError, ValueError):
            continue  # it has ended
