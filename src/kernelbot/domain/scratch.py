"""Temporary folders for what may be large: what a killed process left, the next one removes."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_YOUNG_S = 600.0
"""A folder is made, and then locked: one that nobody has locked may be in between."""


@contextlib.contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder with a name that begins so, until the end of the block. Those of the same prefix and
    account that nobody uses any more are removed first. Blocks."""
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            _remove_unused(left)
    with (
        tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as made,
        _opened(Path(made)) as folder,
    ):
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Path(made)


def _remove_unused(left: Path) -> None:
    """Raises `OSError` if it is used, or none of ours."""
    with _opened(left) as folder:
        found = os.fstat(folder)
        if found.st_uid == os.geteuid() and time.time() - found.st_mtime > _YOUNG_S:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """Whoever dies lets go of what they have locked by it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
