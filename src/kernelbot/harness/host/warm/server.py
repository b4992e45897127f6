"""`warm`: judges the jobs that come over a socket, one at a time or so many side by side, until
none has come for a while, or it has lived for long enough.

Each connection is one job. Both ends write JSON lines: the client its job, the judge `here`,
then `waits`, `event`s (of jobs side by side the first alone), and in the end `result`, `cancelled`,
or `lost` with what failed. A client that closes its end, or dies, has cancelled its job.
"""

import contextlib
import json
import math
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.job_folder import read_job
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, peer_pid
from kernelbot.harness.host.warm.turns import GaveUp, JobSlots, Turn, turn
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    VersionMismatch,
    WireError,
    to_wire,
)
from kernelbot.protocol.os_errors import in_words

SUFFIX = ".sock"
UNSANDBOXED = "A warm judge judges in the sandbox alone."
_MAX_JOB_BYTES = 256 << 20
_BACKLOG = 16
_ANSWER_S = 10.0


@dataclass(frozen=True)
class Life:
    """How long a warm judge stays."""

    idle_s: float
    """After its last job."""
    limit_s: float = math.inf
    """From its start until it takes no more jobs; those that it has are judged."""
    slots: int = 0
    """How many jobs it judges side by side. 0: one at a time, in turn with every other judge of the
    account's that has none."""


def serve_warm(host: Host, path: Path, name: str, life: Life) -> int:
    """Have a process of its own serve on the socket `name` in the folder `path`, until its life is
    over, or SIGTERM, which kills what it judges; none if one serves there already.

    Returns 0 once connections are accepted, 1 if that failed; the reason is on stderr.
    """
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.close(ready)
        os.setsid()  # it outlives whoever started it, and their terminal
        _serve(host, path, name, life, tell)
    os.close(tell)
    return 0 if os.read(ready, 1) else 1


def _serve(host: Host, path: Path, name: str, life: Life, ready: int) -> NoReturn:
    code = 1
    try:
        signal.signal(signal.SIGTERM, _leave)
        folder = PrivateFolder.open(path)
        listener = _listen(folder, name)
        os.write(ready, b"!")
        os.close(ready)
        if listener is not None:
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                server = WarmServer(host, folder, listener, life.slots)
                server.serve(life)
                _unlisten(folder, name, listener)
                server.finish()
            _unlisten(folder, name, listener)
        code = 0
    except (NotOurs, OSError) as error:
        print(error, file=sys.stderr)
    except Exception:  # noqa: BLE001 (the process ends, and nobody else would print it)
        traceback.print_exc()
    finally:
        host.close()
        sys.stdout.flush()
        os._exit(code)  # threads that still wait for a dead judge have nothing left to say


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _listen(folder: PrivateFolder, name: str) -> socket.socket | None:
    """A socket in its place that accepts connections from the first moment; None if a living one
    is there. Sockets of the dead are removed."""
    with folder.locked():
        for found in folder.names():
            if found.endswith(SUFFIX) and not _accepts(folder, found):
                folder.remove(found)
                if found != name:
                    folder.remove(log_of(found))
        if folder.at(name).exists():
            return None
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        partial = f"{name}.partial"
        folder.remove(partial)
        listener.bind(str(folder.at(partial)))
        listener.listen(_BACKLOG)
        folder.at(partial).rename(folder.at(name))
        return listener


def _unlisten(folder: PrivateFolder, name: str, listener: socket.socket) -> None:
    """Whoever has connected meanwhile finds the connection closed, and starts another judge. Again:
    nothing, as the name may be that one's by then."""
    if listener.fileno() < 0:
        return
    with folder.locked():
        folder.remove(name)
        folder.remove(log_of(name))
    listener.close()


def log_of(name: str) -> str:
    """The file beside a socket to which its judge writes what goes wrong."""
    return name.removesuffix(SUFFIX) + ".log"


def _accepts(folder: PrivateFolder, name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(_ANSWER_S)
        try:
            knock.connect(str(folder.at(name)))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # it is busy, not dead
        return True


class WarmServer:
    """Accepts connections, and judges what they bring."""

    def __init__(
        self, host: Host, folder: PrivateFolder, listener: socket.socket, slots: int = 0
    ) -> None:
        self._host = host
        self._turn: Turn = JobSlots(slots).held if slots else partial(turn, folder)
        self._is_quiet = slots > 0
        self._listener = listener
        self._change = threading.Condition()
        self._connections = 0
        self._began_s = self._last_used_s = time.monotonic()

    def serve(self, life: Life) -> None:
        """Until nobody has been connected for `idle_s`, or the limit is reached."""
        while (left_s := self._left_s(life)) > 0:
            if select.select([self._listener], [], [], left_s)[0]:
                connection, _ = self._listener.accept()
                self._count(1)
                threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def finish(self) -> None:
        """Until all that are connected have their results."""
        with self._change:
            self._change.wait_for(lambda: self._connections == 0)

    def _left_s(self, life: Life) -> float:
        now_s = time.monotonic()
        with self._change:
            idle_since_s = now_s if self._connections else self._last_used_s
        return min(idle_since_s + life.idle_s, self._began_s + life.limit_s) - now_s

    def _count(self, change: int) -> None:
        with self._change:
            self._connections += change
            self._last_used_s = time.monotonic()
            self._change.notify_all()

    def _attend(self, connection: socket.socket) -> None:
        try:
            with connection:
                peer_pid(connection)
                Attendance(self._host, self._turn, connection, self._is_quiet).run()
        except (NotOurs, OSError) as error:
            print(f"a connection ended: {error}", file=sys.stderr)
        finally:
            self._count(-1)


@dataclass
class Attendance:
    """One connection."""

    host: Host
    turn: Turn
    connection: socket.socket
    is_quiet: bool = False
    """Whether the client hears no more of a job's progress than that it has begun: where many are
    judged side by side nobody watches each, and telling takes as long as reading the result."""
    _cancelled: Cancellation = field(default_factory=Cancellation)

    def run(self) -> None:
        """From the greeting to the last line. Raises OSError if the client is gone before."""
        self._say({"here": True})
        with self.connection.makefile("rb") as reader:
            line = reader.readline(_MAX_JOB_BYTES)
            if not line:
                return
            threading.Thread(target=self._await_end, args=(reader,), daemon=True).start()
            self._say(self._answer(line))
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    def _await_end(self, reader: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # ValueError: closed, since all is over
            reader.read(1)
        self._cancelled.set()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            return {"result": to_wire(self._judge(read_job(line)))}
        except (Cancelled, GaveUp):
            return {"cancelled": True}
        except (AttemptLost, VersionMismatch, WireError) as error:
            return {"lost": str(error)}
        except OSError as error:  # of the folder with the turn, or of a GPU's lock
            return {"lost": in_words(error)}

    def _judge(self, job: JobSpec) -> RunResult:
        if job.sandbox is SandboxMode.NONE:
            raise WireError(UNSANDBOXED)
        with self.turn(lambda: self._tell({"waits": True}), self._cancelled.is_set):
            if self.is_quiet:
                self._emit(ProgressEvent(EventKind.STARTED))
            return self.host.attempt(job, None if self.is_quiet else self._emit, self._cancelled)

    def _emit(self, event: ProgressEvent) -> None:
        self._tell({"event": to_wire(event)})

    def _tell(self, message: dict[str, Any]) -> None:
        """Say what decides nothing; a client that isn't there any more has cancelled."""
        try:
            self._say(message)
        except OSError:
            self._cancelled.set()

    def _say(self, message: dict[str, Any]) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")
