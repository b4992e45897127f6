"""What runs in a stand-in's container: the processes that have the container's folder as home."""

import contextlib
from pathlib import Path


def processes_of_home(home: Path) -> list[int]:
    """The living processes whose environment says so. Those in a sandbox have none of it, and end
    with those that started them."""
    wanted = f"HOME={home}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found
