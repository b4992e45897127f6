"""Locks that end with the process that holds them, however it ends."""

import contextlib
import fcntl
import os
from pathlib import Path


class LockFile:
    """An exclusive lock on a file (flock), held until `release` or the end of every process
    that inherited its descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path) -> "LockFile | None":
        """Lock the file, made if there is none. None when someone else holds it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def note(self, text: str) -> None:
        """Leave a word in the file for whoever finds it locked."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text.encode(), 0)

    def release(self, *, remove: bool = False) -> None:
        """Let go of this process's descriptor; again: nothing."""
        if self.descriptor < 0:
            return
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self.descriptor)
        self.descriptor = -1


def is_held(path: Path) -> bool | None:
    """Whether a living process holds the lock; None when there is no such file."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:  # shared: two who look at the same time don't take each other for the holder
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False
    return None
