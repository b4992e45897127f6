"""Processor time of a process and its descendants. Linux only."""

import os
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


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


def _parent_and_ticks(process: Path) -> tuple[int, int] | None:
    try:
        text = (process / "stat").read_text()
    except OSError:
        return None  # it has ended meanwhile
    fields = text.rpartition(")")[2].split()
    own_and_childrens = sum(int(field) for field in fields[11:15])
    return int(fields[1]), own_and_childrens
