"""One job per GPU: a lock on the node, held by whoever judges there, which ends with that process,
however it ends."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kernelbot.harness.gpu.access import visible_gpus
from kernelbot.protocol import Vendor

_STEP_S = 0.1


WAIT_S = 60.0
"""Whoever had the GPU before may still be cleaning up."""


class GpuBusy(Exception):
    """Another job holds a GPU of ours; the text names it."""


def lock_folder() -> Path:
    """Where all accounts of this machine find the locks."""
    run = Path("/run/lock")
    base = run if os.access(run, os.W_OK) else Path(tempfile.gettempdir())
    return base / "kernelbot-gpus"


@dataclass(frozen=True)
class GpuLocks:
    """The GPUs that a job needs, and for how long to wait for them."""

    names: tuple[str, ...] | None = None
    """The GPUs by the machine's numbers; None: those that this process may see."""
    folder: Path | None = None
    """Where the locks are; None: where all accounts of this machine find them."""
    wait_s: float = WAIT_S

    @contextlib.contextmanager
    def held(
        self, vendor: Vendor, given_up: Callable[[], bool], most: int | None = None
    ) -> Iterator[None]:
        """Hold them for the block, of those that this process may see so many at `most`. Raises as
        `gpus_locked`, also once nobody waits any more."""
        folder = self.folder or lock_folder()
        with gpus_locked(vendor, self.names, folder, self.wait_s, given_up, most):
            yield


@contextlib.contextmanager
def gpus_locked(
    vendor: Vendor,
    names: tuple[str, ...] | None,
    folder: Path,
    wait_s: float,
    given_up: Callable[[], bool] = lambda: False,
    most: int | None = None,
) -> Iterator[None]:
    """Hold the GPUs for the block: `names` as the machine numbers them, None: those that this
    process may see, the first so many at `most`. On a CPU there is nothing to hold.

    Raises `OSError`, and `GpuBusy` if one isn't free in time or nobody waits any more (`given_up`).
    """
    if vendor is Vendor.CPU:
        yield
        return
    deadline = time.monotonic() + wait_s
    with contextlib.ExitStack() as held:
        for name in sorted(set(visible_gpus(vendor, most) if names is None else names)):
            path = folder / f"{vendor.value}-{quote(name, safe='')}.lock"
            held.callback(os.close, _lock(path, name, deadline, given_up))
        yield


def _lock(path: Path, name: str, deadline: float, given_up: Callable[[], bool]) -> int:
    descriptor = _open(path)
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            if time.monotonic() >= deadline or given_up():
                raise GpuBusy(f"GPU {name} of this node is used by another job.")
            time.sleep(_STEP_S)
    except BaseException:
        os.close(descriptor)
        raise


def _open(path: Path) -> int:
    """Open the file, whichever account made it: a lock needs no right to write."""
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o1777)
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)
        with contextlib.suppress(FileExistsError):
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
