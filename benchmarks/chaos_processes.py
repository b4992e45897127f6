"""The processes of a server and of its jobs on nodes by kind, and the signals that `chaos.py` sends
to them."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scripts.local_server import LocalServer
from scripts.processes import Process, family, survivors

from kernelbot.protocol.process_names import ProcessName

LONGEST_STOP_S = 6.0
STAYING_STOPPED = 0.2
"""The share of stopped processes that stay stopped, of kinds that may."""
_NOBODY = -1  # no process has this id
SERVER = "server"
"""Where a process is that belongs to no scheduler's job."""


class Kind(StrEnum):
    """What may be killed: everything but Postgres and schedulers."""

    SERVE = "serve"
    ANSWER = "answer"
    WORKER = "worker"
    HOST = "host"
    SCRIPT = "job's script"
    CONTAINER = "container"
    NODE = "node's harness"
    JUDGES = "judges' zygote"
    JUDGE = "judge"
    BUBBLEWRAP = "bubblewrap"
    ZYGOTE = "zygote"
    INIT = "init"
    RUNNER = "runner"


NEVER_LEFT_STOPPED = {
    *(Kind.SERVE, Kind.ANSWER, Kind.WORKER, Kind.HOST, Kind.RUNNER),
    *(Kind.SCRIPT, Kind.CONTAINER, Kind.NODE),
}
"""They are always continued. A stopped runner can't be distinguished from an author's code that
waits; only the operator watches those of `serve`; a host may take five minutes; and what holds a
job on a node together has the scheduler's time limit alone."""
_NAMED = {
    ProcessName.ANSWERER: Kind.ANSWER,
    ProcessName.WORKER: Kind.WORKER,
    ProcessName.HOST: Kind.HOST,
    ProcessName.JUDGES: Kind.JUDGES,
    ProcessName.JUDGE: Kind.JUDGE,
    "bwrap": Kind.BUBBLEWRAP,
    ProcessName.FORKER: Kind.ZYGOTE,
    ProcessName.INIT: Kind.INIT,
    ProcessName.RUNNER: Kind.RUNNER,
    ProcessName.CAGE: Kind.RUNNER,
}
"""By what a process is called."""
_IN_JOBS = {**_NAMED, ProcessName.HOST: Kind.NODE, ProcessName.NODE: Kind.NODE}
_JOB = {"slurm_script": Kind.SCRIPT, "run-job.sh": Kind.SCRIPT, "judge-payload": Kind.CONTAINER}
"""By a word of the command line."""


@dataclass(frozen=True)
class Command:
    """What identifies a kind."""

    pid: int
    name: str
    line: str


def kinds(commands: Iterable[Command], serve_pid: int | None = None) -> dict[int, Kind]:
    """By process id; others have none. `serve_pid` None: they are a scheduler's jobs."""
    found = {command.pid: _kind(command, serve_pid) for command in commands}
    return {pid: kind for pid, kind in found.items() if kind is not None}


def _kind(command: Command, serve_pid: int | None) -> Kind | None:
    if command.pid == serve_pid:
        return Kind.SERVE
    if serve_pid is None:
        return _IN_JOBS.get(command.name) or _in_job(command)
    return _NAMED.get(command.name)


def _in_job(command: Command) -> Kind | None:
    return next((kind for word, kind in _JOB.items() if word in command.line), None)


class Storm:
    """Hits processes of one server, of those that were started again in its place, and of its jobs
    on nodes. `nodes`: by launcher, what stands in the environment of its jobs; `stops`: the share
    of hits that stop a process instead of killing it."""

    def __init__(
        self, chance: random.Random, log: Path, nodes: Mapping[str, str], stops: float = 0.5
    ) -> None:
        self.hits: Counter[tuple[str, Kind, str]] = Counter()
        """By launcher or `SERVER`, kind, and `killed` or `stopped`."""
        self.began = time.monotonic()
        self._chance = chance
        self._log = log
        self._nodes = nodes
        self._stops = stops
        self._known: dict[str, set[Process]] = {where: set() for where in (SERVER, *nodes)}
        self._stopped: list[tuple[float, Process]] = []
        """When to continue which process."""

    def look(self, server: LocalServer) -> dict[str, set[Process]]:
        """All processes below it and of the jobs on nodes, by launcher or `SERVER`; and those left
        of earlier servers and of jobs whose first process was killed."""
        markers = {SERVER: server.marker, **self._nodes}
        for where, marker in markers.items():
            found = server.processes() if where == SERVER else family(_NOBODY, marker)
            for process in survivors(self._known[where] - found):
                found |= family(process.pid, marker)
            self._known[where] = found
        return self._known

    def hit(self, server: LocalServer) -> None:
        """Kill or stop a random process, each kind with the same probability."""
        by_kind: dict[tuple[str, Kind], list[Process]] = {}
        for where, found in self.look(server).items():
            members = {process.pid: process for process in found}
            serve_pid = server.pid if where == SERVER else None
            for pid, kind in kinds(map(_command, found), serve_pid).items():
                by_kind.setdefault((where, kind), []).append(members[pid])
        if not by_kind:
            return
        where, kind = self._chance.choice(sorted(by_kind))
        process = self._chance.choice(sorted(by_kind[where, kind], key=lambda each: each.pid))
        if self._chance.random() >= self._stops:
            self._hit_with(signal.SIGKILL, "killed", (where, kind), process)
        else:
            self._stop((where, kind), process)

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
        for process in survivors(set().union(*self._known.values())):
            send(process, signal.SIGKILL)

    def note(self, text: str) -> None:
        """A line in the log, with the time."""
        stamp = time.strftime("%H:%M:%S", time.gmtime())
        with self._log.open("a") as file:
            file.write(f"{stamp} (+{time.monotonic() - self.began:.1f} s) {text}\n")

    def _stop(self, what: tuple[str, Kind], process: Process) -> None:
        for_ever = what[1] not in NEVER_LEFT_STOPPED and self._chance.random() < STAYING_STOPPED
        stop_s = self._chance.uniform(0.1, LONGEST_STOP_S)
        self._stopped = [(until, each) for until, each in self._stopped if each != process]
        if self._hit_with(signal.SIGSTOP, "stopped", what, process) and not for_ever:
            self._stopped.append((time.monotonic() + stop_s, process))
        self.note("  for ever" if for_ever else f"  for {stop_s:.1f} s")

    def _hit_with(
        self, number: signal.Signals, how: str, what: tuple[str, Kind], process: Process
    ) -> bool:
        reached = send(process, number)
        if reached:
            self.hits[*what, how] += 1
            self.note(f"{how} {' '.join(what)} {process.pid}")
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
    return Command(process.pid, process.name, text)
