"""One job of a user at a time, so that two don't disturb each other's times."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator

from kernelbot.harness.host.warm.folder import PrivateFolder

_STEP_S = 0.02
_LOCK = "turn.lock"


class GaveUp(Exception):
    """Nobody waits for the turn any more."""


@contextlib.contextmanager
def turn(
    folder: PrivateFolder,
    on_wait: Callable[[], None],
    given_up: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold the turn for the block; it ends with this process at the latest. `on_wait` is called
    once if another has it. Raises `GaveUp`."""
    lock = folder.open_lock(_LOCK)
    try:
        if not _taken(lock):
            on_wait()
            while not _taken(lock):
                if given_up():
                    raise GaveUp
                time.sleep(_STEP_S)
        yield
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
