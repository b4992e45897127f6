"""How a job ends without a result, and telling from one thread that the job in another is no longer
wanted."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class AttemptLost(Exception):
    """What judges has failed, and nobody is to blame: there is no result, and it is worth another
    attempt. The text says what failed."""


class Cancelled(Exception):
    """The job was cancelled; there is no result."""


class Cancellation:
    """Whether one job is cancelled. Set once, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come while it is held, and cancel
        self._is_set = False
        self._wake: Callable[[], None] | None = None

    def is_set(self) -> bool:
        """Whether the job was cancelled."""
        return self._is_set

    def set(self) -> None:
        """Cancel the job, and wake who waits for it."""
        with self._lock:
            self._is_set = True
            if self._wake is not None:
                self._wake()

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """`wake` is called if the job is cancelled in this block, or was before; by the thread that
        cancels, which `wake` must not keep waiting."""
        with self._lock:
            self._wake = wake
            if self._is_set:
                wake()
        try:
            yield
        finally:
            with self._lock:
                self._wake = None
