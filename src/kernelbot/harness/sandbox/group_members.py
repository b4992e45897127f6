"""Who is in a control group: how a process moves in, and how all are ended."""

import os
import signal
from contextlib import suppress

from kernelbot.harness.inside import kernel_files


def members(folder: str) -> list[int]:
    """The ids of a group's processes; in a threaded one of their threads as well."""
    return [int(pid) for pid in kernel_files.read(member_list(folder)).split()]


def make_threaded(folder: str) -> None:
    """Have threads as members of a group of version 2 that only freezes, if it is at the top of its
    hierarchy: further down, its parent could have no other children any more.

    All threads of a process are in it all the same: it moves in while it has one.
    """
    kind, parents_kind = f"{folder}/cgroup.type", f"{folder}/../cgroup.type"
    if kernel_files.exists(kind) and not kernel_files.exists(parents_kind):
        with suppress(OSError):
            kernel_files.write(kind, "threaded")


def is_threaded(folder: str) -> bool:
    """Whether threads are its members, each by itself."""
    with suppress(OSError):
        return kernel_files.read(f"{folder}/cgroup.type") == "threaded\n"
    return False


def member_list(folder: str) -> str:
    """Where they are listed, and where a process can be moved in."""
    return f"{folder}/cgroup.threads" if is_threaded(folder) else f"{folder}/cgroup.procs"


def task_list(folder: str) -> str:
    """Where a process of one thread can write that it moves in."""
    path = f"{folder}/tasks"
    return path if kernel_files.exists(path) else member_list(folder)


def end_all(folder: str) -> None:
    """End all processes, of a group that is frozen as well; one of version 1 thaws, and ends with
    its init."""
    orders = [("cgroup.kill", "1"), ("freezer.state", "THAWED")]
    if is_threaded(folder):  # it has no `cgroup.kill`; who is frozen keeps its id, and can die
        orders = [("cgroup.freeze", "1")]
    for name, order in orders:
        with suppress(OSError):
            kernel_files.write(f"{folder}/{name}", order)
    if is_threaded(folder):
        with suppress(OSError):  # it has been removed, or they have ended
            for pid in filter(None, members(folder)):  # 0: in no namespace of ours
                os.kill(pid, signal.SIGKILL)
