"""Who is in a control group: how a process moves in, and how all are ended."""

import os
import signal
from contextlib import suppress
from pathlib import Path


def members(folder: Path) -> list[int]:
    """The ids of a group's processes; in a threaded one of their threads as well."""
    return [int(pid) for pid in member_list(folder).read_text().split()]


def make_threaded(folder: Path) -> None:
    """Have threads as members of a group of version 2 that only freezes, if it is at the top of its
    hierarchy: further down, its parent could have no other children any more.

    All threads of a process are in it all the same: it moves in while it has one.
    """
    if (folder / "cgroup.type").exists() and not (folder.parent / "cgroup.type").exists():
        with suppress(OSError):
            (folder / "cgroup.type").write_text("threaded")


def is_threaded(folder: Path) -> bool:
    """Whether threads are its members, each by itself."""
    with suppress(OSError):
        return (folder / "cgroup.type").read_text() == "threaded\n"
    return False


def member_list(folder: Path) -> Path:
    """Where they are listed, and where a process can be moved in."""
    return folder / ("cgroup.threads" if is_threaded(folder) else "cgroup.procs")


def task_list(folder: Path) -> Path:
    """Where a process of one thread can write that it moves in."""
    path = folder / "tasks"
    return path if path.exists() else member_list(folder)


def end_all(folder: Path) -> None:
    """End all processes, of a group that is frozen as well; one of version 1 thaws, and ends with
    its init."""
    orders = [("cgroup.kill", "1"), ("freezer.state", "THAWED")]
    if is_threaded(folder):  # it has no `cgroup.kill`; who is frozen keeps its id, and can die
        orders = [("cgroup.freeze", "1")]
    for name, order in orders:
        with suppress(OSError):
            fd = os.open(folder / name, os.O_WRONLY)  # never made where it isn't there
            os.write(fd, order.encode())
            os.close(fd)
    if is_threaded(folder):
        with suppress(OSError):  # it has been removed, or they have ended
            for pid in filter(None, members(folder)):  # 0: in no namespace of ours
                os.kill(pid, signal.SIGKILL)
