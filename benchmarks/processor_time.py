"""Processor time of a process and its descendants. Linux only."""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from scripts.processes import Process

_ALL_THREADS = 2
"""Linux numbers the clocks of processes like that: the time that all of its threads ran."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
JUDGING = "judging"
PARTS = {
    "API": ("kb:server", "kb:answerer"),
    "worker": ("kb:worker",),
    "Postgres": ("postgres",),
    JUDGING: (),
}
"""The parts of a server, each with the names of its processes; all others judge."""


def processor_s(root: int) -> float:
    """What `root`, its living descendants, and those of them that ended have used so far."""
    times: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := _parent_and_ticks(entry)) is not None:
            times[int(entry.name)] = found
    members = {root}
    grown = True
    while grown:
        found_now = {pid for pid, (parent, _) in times.items() if parent in members}
        grown = not found_now <= members
        members |= found_now
    return sum(times[pid][1] for pid in members if pid in times) / _TICKS_PER_S


def processor_s_by_process(root: int) -> dict[int, float]:
    """What `root` and each of its living descendants have used so far, with all of their threads
    and to less than a microsecond: four hundred small requests take a few ticks."""
    parents = {
        int(entry.name): found[0]
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (found := _parent_and_ticks(entry)) is not None
    }
    used = dict[int, float]()
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                used[pid] = time.clock_gettime(~pid << 3 | _ALL_THREADS)
    return used


def _parent_and_ticks(process: Path) -> tuple[int, int] | None:
    try:
        text = (process / "stat").read_text()
    except OSError:
        return None  # it has ended meanwhile
    fields = text.rpartition(")")[2].split()
    own_and_childrens = sum(int(field) for field in fields[11:15])
    return int(fields[1]), own_and_childrens


def processor_s_by_part(processes: Iterable[Process]) -> dict[str, float]:
    """What each part of a server has used so far: the API, the worker, Postgres, and all that
    judges. Children that have ended count for whoever waited for them."""
    used = dict.fromkeys(PARTS, 0.0)
    for process in processes:
        found = _parent_and_ticks(Path(f"/proc/{process.pid}"))
        if found is not None:
            part = next((part for part, names in PARTS.items() if process.name in names), JUDGING)
            used[part] += found[1] / _TICKS_PER_S
    return used
