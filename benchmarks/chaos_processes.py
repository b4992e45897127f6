"""The processes below a server by kind, and the signals that `chaos.py` sends to them."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scripts.local_server import LocalServer
from scripts.processes import Process, family, survivors

LONGEST_STOP_S = 6.0
STAYING_STOPPED = 0.2
"""The share of stopped processes that stay stopped, of kinds that may."""


class Kind(StrEnum):
    """What may be killed: everything but Postgres."""

    SERVE = "serve"
    ANSWER = "answer"
    WORKER = "worker"
    HOST = "host"
    JUDGES = "judges' zygote"
    JUDGE = "judge"
    BUBBLEWRAP = "bubblewrap"
    ZYGOTE = "zygote"
    INIT = "init"
    RUNNER = "runner"


NEVER_LEFT_STOPPED = {Kind.SERVE, Kind.ANSWER, Kind.WORKER, Kind.HOST, Kind.RUNNER}
"""They are always continued. A stopped runner can't be distinguished from an author's code that
waits; only the operator watches those of `serve`; and a host may take five minutes."""


@dataclass(frozen=True)
class Command:
    """What identifies a kind."""

    pid: int
    parent: int
    name: str
    line: str


def kinds(commands: Iterable[Command], serve_pid: int) -> dict[int, Kind]:
    """By process id; others have none. Several generations have the zygotes' commands."""
    found = {command.pid: command for command in commands}
    return {pid: kind for pid in found if (kind := _kind(found, pid, serve_pid)) is not None}


def _kind(found: dict[int, Command], pid: int, serve_pid: int) -> Kind | None:
    command = found[pid]
    if pid == serve_pid:
        return Kind.SERVE
    if "forker.main" in command.line:
        return _in_sandbox(found, command)
    if "kernelbot.harness judges" in command.line:
        return Kind.JUDGE if _generation(found, command) else Kind.JUDGES
    for word, kind in (("main.answer", Kind.ANSWER), ("main.work", Kind.WORKER)):
        if f"kernelbot.{word}" in command.line:
            return kind
    return Kind.HOST if "kernelbot.harness host" in command.line else None


def _in_sandbox(found: dict[int, Command], command: Command) -> Kind:
    if not command.name.startswith("python"):
        return Kind.BUBBLEWRAP  # or what becomes it
    # The first only waits for the second, which is the first in a namespace of its own.
    by_generation = (Kind.ZYGOTE, Kind.ZYGOTE, Kind.INIT, Kind.RUNNER)
    return by_generation[min(_generation(found, command), len(by_generation) - 1)]


def _generation(found: dict[int, Command], command: Command) -> int:
    """How many of its ancestors have the same command."""
    count = 0
    while (parent := found.get(command.parent)) and parent.line == command.line:
        count, command = count + 1, parent
    return count


class Storm:
    """Hits processes of one server, and of those that were started again in its place."""

    def __init__(self, chance: random.Random, log: Path) -> None:
        self.hits: Counter[tuple[Kind, str]] = Counter()
        """By kind, and `killed` or `stopped`."""
        self.began = time.monotonic()
        self._chance = chance
        self._log = log
        self._known: set[Process] = set()
        self._stopped: list[tuple[float, Process]] = []
        """When to continue which process."""

    def look(self, server: LocalServer) -> set[Process]:
        """All processes below it, and those left of earlier servers."""
        found = server.processes()
        for process in survivors(self._known - found):
            found |= family(process.pid, server.marker)
        self._known |= found
        return found

    def hit(self, server: LocalServer) -> None:
        """Kill or stop a random process, each kind with the same probability."""
        by_kind: dict[Kind, list[Process]] = {}
        members = {process.pid: process for process in self.look(server)}
        for pid, kind in kinds(map(_command, members.values()), server.pid).items():
            by_kind.setdefault(kind, []).append(members[pid])
        if not by_kind:
            return
        kind = self._chance.choice(sorted(by_kind))
        process = self._chance.choice(sorted(by_kind[kind], key=lambda each: each.pid))
        if self._chance.random() < 0.5:
            self._hit_with(signal.SIGKILL, "killed", kind, process)
        else:
            self._stop(kind, process)

    def continue_due(self, *, everyone: bool = False) -> None:
        """Continue the processes whose time is over."""
        now = time.monotonic()
        due = [process for until, process in self._stopped if everyone or until <= now]
        self._stopped = [(until, each) for until, each in self._stopped if each not in due]
        for process in due:
            send(process, signal.SIGCONT)
            self.note(f"continued {process.pid}")

    def end(self) -> None:
        """Kill whatever is left."""
        for process in survivors(self._known):
            send(process, signal.SIGKILL)

    def note(self, text: str) -> None:
        """A line in the log, with the time."""
        stamp = time.strftime("%H:%M:%S", time.gmtime())
        with self._log.open("a") as file:
            file.write(f"{stamp} (+{time.monotonic() - self.began:.1f} s) {text}\n")

    def _stop(self, kind: Kind, process: Process) -> None:
        for_ever = kind not in NEVER_LEFT_STOPPED and self._chance.random() < STAYING_STOPPED
        stop_s = self._chance.uniform(0.1, LONGEST_STOP_S)
        self._stopped = [(until, each) for until, each in self._stopped if each != process]
        if self._hit_with(signal.SIGSTOP, "stopped", kind, process) and not for_ever:
            self._stopped.append((time.monotonic() + stop_s, process))
        self.note("  for ever" if for_ever else f"  for {stop_s:.1f} s")

    def _hit_with(self, number: signal.Signals, what: str, kind: Kind, process: Process) -> bool:
        reached = send(process, number)
        if reached:
            self.hits[kind, what] += 1
            self.note(f"{what} {kind} {process.pid}")
        return reached


def send(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process, never another one with its number; whether it existed."""
    try:
        held = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not process.alive:
            return False
        signal.pidfd_send_signal(held, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(held)
    return True


def _command(process: Process) -> Command:
    try:
        line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except OSError:
        line = b""
    text = line.replace(b"\0", b" ").decode(errors="replace")
    return Command(process.pid, process.parent, process.name, text)
