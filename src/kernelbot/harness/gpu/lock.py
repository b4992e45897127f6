"""One job per GPU: a lock on the node, held by whoever judges there, which ends with that process,
however it ends."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from kernelbot.harness.gpu.access import visible_gpus
from kernelbot.protocol import Vendor

_STEP_S = 0.1


class GpuBusy(Exception):
    """Another job holds a GPU of ours; the text names it."""


def lock_folder() -> Path:
    """Where all accounts of this machine find the locks."""
    run = Path("/run/lock")
    base = run if os.access(run, os.W_OK) else Path(tempfile.gettempdir())
    return base / "kernelbot-gpus"


@contextlib.contextmanager
def gpus_locked(
    vendor: Vendor, names: tuple[str, ...] | None, folder: Path, wait_s: float
) -> Iterator[None]:
    """Hold the GPUs for the block: `names` as the machine numbers them, None: those that this
    process may see. On a CPU there is nothing to hold. Raises `OSError`, and `GpuBusy` if one isn't
    free in time."""
    if vendor is Vendor.CPU:
        yield
        return
    deadline = time.monotonic() + wait_s
    with contextlib.ExitStack() as held:
        for name in sorted(set(visible_gpus(vendor) if names is None else names)):
            path = folder / f"{vendor.value}-{quote(name, safe='')}.lock"
            held.callback(os.close, _lock(path, name, deadline))
        yield


def _lock(path: Path, name: str, deadline: float) -> int:
    descriptor = _open(path)
    try:
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            if time.monotonic() >= deadline:
                raise GpuBusy(f"GPU {name} of this node is used by another job.")
            time.sleep(_STEP_S)
    except BaseException:
        os.close(descriptor)
        raise


def _open(path: Path) -> int:
    """Of whichever account the file is: a lock needs no right to write."""
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o1777)
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)
        with contextlib.suppress(FileExistsError):
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
