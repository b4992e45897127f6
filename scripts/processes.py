"""Which processes belong to a server, what they hold, and whether any outlives it. Linux only."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One process. With its start time it can't be taken for another that got the same pid."""

    pid: int
    parent: int
    started: int
    """Clock ticks since boot."""
    name: str

    @property
    def alive(self) -> bool:
        """False once it ended; a zombie has ended."""
        now = _read(self.pid)
        return now is not None and now.started == self.started

    @property
    def memory_bytes(self) -> int:
        """Its proportional share of the memory in use (PSS): shared pages are counted once over
        all processes. 0 once it ended, or if another account's process can't be read."""
        try:
            text = (PROC / str(self.pid) / "smaps_rollup").read_text()
        except OSError:
            return 0
        line = next((line for line in text.splitlines() if line.startswith("Pss:")), "Pss: 0")
        return int(line.split()[1]) * 1024


def family(root: int, marker: str) -> set[Process]:
    """`root`, processes with `marker` (`NAME=value`) in their environment (a daemon has no parent
    here), and the descendants of all these. Processes that can't be read are left out."""
    everyone = [process for pid in _pids() if (process := _read(pid)) is not None]
    members = {root} | {process.pid for process in everyone if _carries(process.pid, marker)}
    grown = True
    while grown:
        found = {process.pid for process in everyone if process.parent in members}
        grown = not found <= members
        members |= found
    return {process for process in everyone if process.pid in members}


def survivors(processes: Iterable[Process]) -> list[Process]:
    """Those that still run."""
    return [process for process in processes if process.alive]


def _pids() -> list[int]:
    return [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]


def _read(pid: int) -> Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold any character.
    name = text[text.index("(") + 1 : text.rindex(")")]
    fields = text[text.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    return Process(pid=pid, parent=int(fields[1]), started=int(fields[19]), name=name)


def _carries(pid: int, marker: str) -> bool:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return marker.encode() in environment.split(b"\0")
