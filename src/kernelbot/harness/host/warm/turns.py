"""Whose job a warm judge takes next: one of a user at a time, so that two don't disturb each
other's times, or so many side by side."""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from kernelbot.harness.host.warm.folder import PrivateFolder

_STEP_S = 0.02
_LOCK = "turn.lock"


Turn = Callable[[Callable[[], None], Callable[[], bool]], AbstractContextManager[None]]
"""Holds a turn for a block. Its arguments are those of `turn` after the folder."""


class GaveUp(Exception):
    """Nobody waits for the turn any more."""


@contextlib.contextmanager
def turn(
    folder: PrivateFolder, on_wait: Callable[[], None], given_up: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Hold the turn for the block; it ends with this process at the latest. `on_wait` is called
    once if another has it. Raises `GaveUp`."""
    lock = folder.open_lock(_LOCK)
    try:
        if not _try_lock(lock):
            on_wait()
            while not _try_lock(lock):
                if given_up():
                    raise GaveUp
                time.sleep(_STEP_S)
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


class JobSlots:
    """So many jobs of one judge side by side. Their timed phases still take turns on a machine or a
    GPU, as those of a server's host do."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    @contextlib.contextmanager
    def held(self, on_wait: Callable[[], None], given_up: Callable[[], bool]) -> Iterator[None]:
        """Hold a slot for the block. `on_wait` is called once if none is free. Raises `GaveUp`."""
        if not self._free.acquire(blocking=False):
            on_wait()
            while not self._free.acquire(timeout=_STEP_S):
                if given_up():
                    raise GaveUp
        try:
            yield
        finally:
            self._free.release()
