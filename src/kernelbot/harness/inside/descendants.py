"""Kills a process tree if no namespace does it for us."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from kernelbot.harness.inside import kernel_files


def kill_all(root_pid: int) -> None:
    """SIGKILL every descendant of `root_pid` until none lives. The root itself is spared.

    Needs a root that adopts orphans (a subreaper, or pid 1), else they slip away.
    """
    while alive := _living_descendants(root_pid):
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if root_pid == os.getpid():
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        time.sleep(0.001)


def _living_descendants(root_pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(FileNotFoundError, ProcessLookupError):
            stat = kernel_files.read(f"{folder}/stat")
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(folder.name))
    found: list[int] = []
    pending = [root_pid]
    while pending:
        mine = children.get(pending.pop(), [])
        found += mine
        pending += mine
    return found
