"""Control groups, version 1 or 2: around one runner's whole tree, limits on memory and processes,
and a count of its processor time that misses no process, however soon it has ended."""

import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelbot.protocol import Limits

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "kernelbot-"
_CONTROLLERS = ("memory", "pids")
_TIME = "cpuacct"
"""Version 1 counts processor time in a hierarchy of its own, version 2 in every group."""
_STAND_INS = (
    ("memory", "RLIMIT_DATA stands in"),
    ("pids", "RLIMIT_NPROC stands in"),
    (_TIME, "processor time of a process that ends within a call isn't counted"),
)
_REMOVE_TIMEOUT_S = 1.0
_numbers = itertools.count()


@dataclass(frozen=True)
class Hierarchies:
    """Where groups can be made. A controller absent from `parents` isn't to be had."""

    version: int
    parents: dict[str, Path]
    """Controller to the folder under which a group for it is made."""
    missing: tuple[str, ...]

    @property
    def in_force(self) -> tuple[str, ...]:
        """For reports, e.g. `cgroup v1: memory`."""
        return tuple(f"cgroup v{self.version}: {name}" for name in self.parents)


@cache
def detect() -> Hierarchies:
    """Find what this process may use, by trying; leftovers of dead judges are removed."""
    names = (*_CONTROLLERS, _TIME)
    if (_ROOT / "cgroup.controllers").exists():
        found = {name: folder for folder in [_find_v2_parent()] if folder for name in names}
        version = 2
    else:
        found = {name: folder for name in names if (folder := _find_v1_parent(name))}
        version = 1
    usable = {name: folder for name, folder in found.items() if _can_make_group(folder)}
    missing = tuple(
        f"cgroup {name}: no writable cgroup here; {instead}"
        for name, instead in _STAND_INS
        if name not in usable
    )
    for folder in set(usable.values()):
        _remove_leftovers(folder)
    return Hierarchies(version, usable, missing)


def _own_path(controller: str) -> str | None:
    """This process's group in the hierarchy of `controller` (`""`: version 2)."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else not names:
            return path.lstrip("/")
    return None


def _find_v1_parent(controller: str) -> Path | None:
    path = _own_path(controller)
    folder = _ROOT / controller / (path or "")
    return folder if path is not None and folder.is_dir() else None


def _find_v2_parent() -> Path | None:
    """The nearest folder above us that already hands both controllers to its children."""
    folder = _ROOT / (_own_path("") or "")
    while folder.is_relative_to(_ROOT):
        with suppress(OSError):
            given = (folder / "cgroup.subtree_control").read_text().split()
            if set(_CONTROLLERS) <= set(given):
                return folder
        folder = folder.parent
    return None


def _can_make_group(parent: Path) -> bool:
    probe = parent / f"{_PREFIX}{os.getpid()}-probe"
    try:
        probe.mkdir()
        (probe / "cgroup.procs").open("w").close()
        probe.rmdir()
    except OSError:
        return False
    return True


def _remove_leftovers(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(OSError):
                folder.rmdir()


class RunnerGroup:
    """The groups of one runner. Made before it starts, removed when it is dead."""

    def __init__(self, limits: Limits) -> None:
        """Make the groups and set the limits. Raises OSError."""
        self._hierarchies = detect()
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        parents = self._hierarchies.parents
        self._folders = {controller: parent / name for controller, parent in parents.items()}
        for folder in set(self._folders.values()):
            folder.mkdir()
        if self._hierarchies.version == 2:
            self._set_v2(limits)
        else:
            self._set_v1(limits)

    @property
    def limits_memory(self) -> bool:
        """Whether the memory limit is in force."""
        return "memory" in self._folders

    @property
    def limits_processes(self) -> bool:
        """Whether the limit on processes is in force."""
        return "pids" in self._folders

    def cpu_time_ns(self) -> int | None:
        """Processor time so far of all that ever ran in the group, dead processes included; exact
        while all of it is at rest. None where there is no such group.
        """
        folder = self._folders.get(_TIME)
        if folder is None:
            return None
        if self._hierarchies.version == 2:
            return _counter(folder / "cpu.stat", "usage_usec") * 1000
        return int((folder / "cpuacct.usage").read_text())

    def _set_v1(self, limits: Limits) -> None:
        if memory := self._folders.get("memory"):
            (memory / "memory.limit_in_bytes").write_text(str(limits.memory_bytes))
            with suppress(OSError):  # absent where swap isn't accounted
                (memory / "memory.memsw.limit_in_bytes").write_text(str(limits.memory_bytes))
        if pids := self._folders.get("pids"):
            (pids / "pids.max").write_text(str(limits.processes))

    def _set_v2(self, limits: Limits) -> None:
        if not self._folders:
            return
        folder = self._folders["memory"]
        (folder / "memory.max").write_text(str(limits.memory_bytes))
        (folder / "pids.max").write_text(str(limits.processes))
        with suppress(OSError):  # kernels before 4.19, and systems without swap accounting
            (folder / "memory.oom.group").write_text("1")
        with suppress(OSError):
            (folder / "memory.swap.max").write_text("0")

    def open_task_lists(self) -> list[int]:
        """Descriptors through which a process can move itself in; version 1 only.

        Moving another process takes the kernel's global lock (5 ms); moving oneself doesn't.
        """
        if self._hierarchies.version != 1:
            return []
        return [os.open(folder / "tasks", os.O_WRONLY) for folder in self._folders.values()]

    def adopt(self, pid: int) -> None:
        """Make sure that `pid` is in every group. Raises OSError."""
        for folder in set(self._folders.values()):
            if str(pid) not in (folder / "cgroup.procs").read_text().split():
                (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether the memory limit has killed a process of the group."""
        if not self.limits_memory:
            return False
        name = "memory.events" if self._hierarchies.version == 2 else "memory.oom_control"
        return _counter(self._folders["memory"] / name, "oom_kill") > 0

    def too_many_processes(self) -> bool:
        """Whether a fork was refused."""
        return self.limits_processes and _counter(self._folders["pids"] / "pids.events", "max") > 0

    def remove(self) -> None:
        """Remove the groups. The last process may still be on its way out: waits up to a second."""
        deadline = time.monotonic() + _REMOVE_TIMEOUT_S
        for folder in set(self._folders.values()):
            while True:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        break  # removed with the leftovers of the next start
                    time.sleep(0.0005)
                else:
                    break


def _counter(path: Path, name: str) -> int:
    with suppress(OSError):
        for line in path.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name and value.isdigit():
                return int(value)
    return 0
