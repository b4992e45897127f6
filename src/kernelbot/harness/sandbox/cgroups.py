"""Control groups, version 1 or 2: around one runner's whole tree, limits on memory and processes,
a count of its processor time that misses no process, however soon it has ended, and a freezer."""

import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernelbot.harness.inside import kernel_files
from kernelbot.harness.inside.kernel_files import counter, number
from kernelbot.harness.sandbox.freezer import Freezer
from kernelbot.harness.sandbox.group_members import (
    end_all,
    is_threaded,
    make_threaded,
    member_list,
    members,
    task_list,
)
from kernelbot.protocol import Limits

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "kernelbot-"
_JUDGE = "judge"
_CONTROLLERS = ("memory", "pids")
_TIME = "cpuacct"
"""Version 1 counts processor time in a hierarchy of its own, version 2 in every group."""
_FREEZER = "freezer"
"""Version 2 freezes any group, and several times as fast; it is used beside version 1 as well."""
_STAND_INS = (
    ("memory", "RLIMIT_DATA stands in"),
    ("pids", "RLIMIT_NPROC stands in"),
    (_TIME, "processor time of a process that ends within a call isn't counted"),
    (_FREEZER, "runners are stopped by signals, so a timed call's data appears inside its clock"),
)
_UNITS = (".service", ".scope")
_NAME_BYTES = 8
_REMOVE_TIMEOUT_S = 1.0
_REMOVE_PAUSE_S = 0.01
_NEARLY_BYTES = 1 << 20
"""Memory is charged by the batch, so the last one that would not fit leaves less than this."""
_JUDGE_BYTES = 4 << 30
"""What a judge needs beside a call's data and output: kept answers, the reference's, its own
objects."""


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
        return tuple(f"cgroup v{self._version_of(name)}: {name}" for name in self.parents)

    def _version_of(self, controller: str) -> int:
        folder = self.parents[controller]
        return 2 if (folder / "cgroup.controllers").exists() else 1


@cache
def detect() -> Hierarchies:
    """Find what this process may use, by trying."""
    names = (*_CONTROLLERS, _TIME)
    if (_ROOT / "cgroup.controllers").exists():
        parent = find_v2_parent(_ROOT, _own_path("") or "")
        found = dict.fromkeys(names, parent) if parent else {}
        version = 2
    else:
        found = {name: folder for name in names if (folder := _find_v1_parent(name))}
        version = 1
    usable = {name: folder for name, folder in found.items() if _can_make_group(folder)}
    if freezer := usable.get("memory" if version == 2 else "") or _find_freezer_parent():
        usable[_FREEZER] = freezer
        if version == 2:
            usable.setdefault(_TIME, freezer)
    missing = tuple(
        f"cgroup {name}: no writable cgroup here; {instead}"
        for name, instead in _STAND_INS
        if name not in usable
    )
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


def find_v2_parent(root: Path, own_path: str) -> Path | None:
    """The folder in which this process's own group lies, below the hierarchy's `root`, if it hands
    both controllers to its children; None otherwise.

    Never one further up: in between somebody else may bound processors, devices and memory, as
    Slurm does, and a runner there would have left that behind.
    """
    own = root / own_path.strip("/")
    folder = own if own == root else own.parent
    with suppress(OSError):
        given = (folder / "cgroup.subtree_control").read_text().split()
        if set(_CONTROLLERS) <= set(given):
            return folder
    return None


def unit_left_behind() -> str | None:
    """The systemd unit that this process runs in, if runners' groups lie beside it: then its bounds
    on memory and processors don't hold for them. None: they lie within it, or in no unit's."""
    groups = detect()
    parent = groups.parents.get("memory")
    return sibling_unit(parent, _own_path("") or "") if groups.version == 2 and parent else None


def sibling_unit(parent: Path, own_path: str) -> str | None:
    """The same, for a process in the group `own_path` whose runners' groups are below `parent`."""
    own = Path("/", own_path)
    is_unit = own.suffix in _UNITS and parent.name == own.parent.name
    return own.name if is_unit else None


def _find_freezer_parent() -> Path | None:
    """The nearest folder above us, of version 2 if there is any, in which groups can be frozen."""
    mounted = _ROOT if (_ROOT / "cgroup.controllers").exists() else _ROOT / "unified"
    own = mounted / (_own_path("") or "")
    folders = [own, *own.parents] if (mounted / "cgroup.controllers").exists() else []
    second = [folder for folder in folders if folder.is_relative_to(mounted)]
    first = _find_v1_parent(_FREEZER)
    usable = (folder for folder in (*second, first) if folder and _can_make_group(folder))
    return next(usable, None)


def _can_make_group(parent: Path) -> bool:
    """Whether a group can be made there and joined by a process from below `parent`."""
    probe = parent / _own_name("probe")
    if not os.access(parent / "cgroup.procs", os.W_OK):
        return False
    try:
        probe.mkdir()
        (probe / "cgroup.procs").open("w").close()
        probe.rmdir()
    except OSError:
        return False
    return True


def remove_leftovers(timeout_s: float = 0.0) -> bool:
    """Remove the groups of judges that have died; whether none is left. A runner whose judge is
    gone ends by itself, which is waited for as long as said.
    """
    deadline = time.monotonic() + timeout_s
    parents = set(detect().parents.values())
    while left := [folder for parent in parents for folder in _leftovers(parent)]:
        for folder in left:
            end_all(str(folder))
            with suppress(OSError):
                folder.rmdir()
        if time.monotonic() >= deadline:
            return not any(folder.exists() for folder in left)
        time.sleep(_REMOVE_PAUSE_S)
    return True


def remove_judge_group(pid: int) -> bool:
    """Remove the group of a judge of ours that has ended; whether it is gone, or never was."""
    parent = detect().parents.get("memory")
    try:
        if parent is not None:
            os.rmdir(f"{parent}/{_name_of(pid, _JUDGE)}")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _leftovers(parent: Path) -> list[Path]:
    """Groups of dead processes; whether those of another pid namespace are, can't be told."""
    found = []
    for folder in parent.glob(f"{_PREFIX}*-{_pid_namespace()}-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            found.append(folder)
    return found


def _own_name(last: str) -> str:
    """The name of a group of this process."""
    return _name_of(os.getpid(), last)


def _name_of(pid: int, last: str) -> str:
    return f"{_PREFIX}{pid}-{_pid_namespace()}-{last}"


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


class JudgeGroup:
    """The group of this process, a judge, whose memory it bounds. Its zygote removes it."""

    def __init__(self) -> None:
        """Make it and move in, if that is to be had: once, and before any runner is asked for."""
        parent = detect().parents.get("memory")
        self._folder = None if parent is None else _joined(f"{parent}/{_own_name(_JUDGE)}")

    def limit(self, limits: Limits) -> bool:
        """Bound the memory for a job with these limits; whether that was to be had. Beyond it the
        kernel kills this process alone, and its attempt is lost.
        """
        if self._folder is None:
            return False
        try:
            _bound_memory(self._folder, judge_memory_bytes(limits))
        except OSError:
            return False
        return True


def _bound_memory(folder: str, size_bytes: int) -> None:
    """Bound the memory of a group, of either version, which may use no swap. Raises OSError."""
    first = detect().version == 1
    limit = "memory.limit_in_bytes" if first else "memory.max"
    kernel_files.write(f"{folder}/{limit}", str(size_bytes))
    swap, most = ("memory.memsw.limit_in_bytes", size_bytes) if first else ("memory.swap.max", 0)
    with suppress(OSError):  # absent where swap isn't accounted
        kernel_files.write(f"{folder}/{swap}", str(most))


def _joined(folder: str) -> str | None:
    """A new group with this process in it; None if it can't be had."""
    try:
        os.mkdir(folder)
        kernel_files.write(task_list(folder), "0")
    except OSError:
        with suppress(OSError):
            os.rmdir(folder)
        return None
    return folder


def judge_memory_bytes(limits: Limits) -> int:
    """What a judge may use: data in two places, an output and its copy, each as large as the
    author's memory, and the rest."""
    return 4 * limits.memory_bytes + _JUDGE_BYTES


class RunnerGroup:
    """The groups of one runner. It moves in before it has an order, and they are removed when it is
    dead."""

    def __init__(self) -> None:
        """Make the groups, without limits so far. Raises OSError."""
        self._hierarchies = detect()
        # A number that goes up would tell which phase, and whose side of a duel, this is.
        self._name = name = _own_name(secrets.token_hex(_NAME_BYTES))
        parents = self._hierarchies.parents
        self._folders = {controller: f"{parent}/{name}" for controller, parent in parents.items()}
        for folder in set(self._folders.values()):
            os.mkdir(folder)
        frozen = self._folders.get(_FREEZER)
        if frozen and self._hierarchies.version == 1:
            make_threaded(frozen)
        self.freezer = Freezer(frozen) if frozen else None
        """Freezes the whole runner; None if there is no such group."""

    @property
    def limits_memory(self) -> bool:
        """Whether the memory limit is in force."""
        return "memory" in self._folders

    @property
    def limits_processes(self) -> bool:
        """Whether the limit on processes is in force."""
        return "pids" in self._folders

    def limit(self, limits: Limits) -> None:
        """Set the limits: before there is any code of the author's. Raises OSError."""
        if self._hierarchies.version == 2:
            self._set_v2(limits)
        else:
            self._set_v1(limits)

    def cpu_time_ns(self) -> int | None:
        """Processor time so far of all that ever ran in the group, dead processes included; exact
        while all of it is at rest. None if there is no such group.
        """
        folder = self._folders.get(_TIME)
        if folder is None:
            return None
        if self._hierarchies.version == 2:
            return counter(f"{folder}/cpu.stat", "usage_usec") * 1000
        return int(kernel_files.read(f"{folder}/cpuacct.usage"))

    def _set_v1(self, limits: Limits) -> None:
        if memory := self._folders.get("memory"):
            _bound_memory(memory, limits.memory_bytes)
        if pids := self._folders.get("pids"):
            kernel_files.write(f"{pids}/pids.max", str(limits.processes))

    def _set_v2(self, limits: Limits) -> None:
        folder = self._folders.get("memory")
        if folder is None:
            return
        _bound_memory(folder, limits.memory_bytes)
        kernel_files.write(f"{folder}/pids.max", str(limits.processes))
        with suppress(OSError):  # kernels before 4.19
            kernel_files.write(f"{folder}/memory.oom.group", "1")

    def open_task_lists(self) -> list[int]:
        """Descriptors through which a process can move itself in, before it has any child.

        Moving another process takes the kernel's global lock (5 to 20 ms, in which nobody else can
        make, move into or freeze a group either); under version 1 and in threaded groups moving
        oneself doesn't.
        """
        return [os.open(task_list(folder), os.O_WRONLY) for folder in set(self._folders.values())]

    def adopt(self, pid: int) -> None:
        """Make sure that `pid` is in every group, with all of its threads. Raises OSError."""
        threads = set(map(int, os.listdir(f"/proc/{pid}/task")))
        if len(threads) == 1 and self._holds(pid):
            return
        for folder in set(self._folders.values()):
            wanted = threads if is_threaded(folder) else {pid}
            for one in wanted - set(members(folder)):
                kernel_files.write(member_list(folder), str(one))

    def _holds(self, pid: int) -> bool:
        """Whether it is, by one look; if not, one group may still go by several names."""
        lines = kernel_files.read(f"/proc/{pid}/cgroup").splitlines()
        inside = sum(line.endswith(f"/{self._name}") for line in lines)
        return inside == len(set(self._folders.values()))

    def out_of_memory(self) -> bool:
        """Whether the memory limit has killed a process of the group.

        Not where the machine's memory had run out: the group's own limit was never met then.
        """
        if not self.limits_memory:
            return False
        folder = self._folders["memory"]
        if self._hierarchies.version == 2:
            events = f"{folder}/memory.events"
            return counter(events, "oom_kill") > 0 and counter(events, "max") > 0
        limit_bytes = number(f"{folder}/memory.limit_in_bytes")
        max_bytes = number(f"{folder}/memory.max_usage_in_bytes")
        met = max_bytes + _NEARLY_BYTES >= limit_bytes or number(f"{folder}/memory.failcnt")
        return bool(met) and counter(f"{folder}/memory.oom_control", "oom_kill") > 0

    def peak_bytes(self) -> int:
        """How much memory the group has used at most; 0 if nothing here counts that."""
        folder = self._folders.get("memory")
        if folder is None:
            return 0
        if self._hierarchies.version == 2:  # kernels before 5.19 know no peak
            return number(f"{folder}/memory.peak") or number(f"{folder}/memory.current")
        return number(f"{folder}/memory.max_usage_in_bytes")

    def too_many_processes(self) -> bool:
        """Whether a fork was refused."""
        if not self.limits_processes:
            return False
        return counter(f"{self._folders['pids']}/pids.events", "max") > 0

    def remove(self) -> None:
        """Remove the groups. The last process may still be on its way out: waits up to a second."""
        if self.freezer is not None:
            self.freezer.close()
        deadline = time.monotonic() + _REMOVE_TIMEOUT_S
        for folder in set(self._folders.values()):
            while True:
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        break  # removed with the leftovers of the next start
                    time.sleep(0.0005)
                else:
                    break
