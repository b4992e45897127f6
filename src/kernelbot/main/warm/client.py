"""One job for the warm judge: it is started if there is none, asked, and followed to the result."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.warm.folder import NotOurs, PrivateFolder, peer_pid
from kernelbot.main.warm.names import environment, judge_name
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult, WireError, from_wire, to_wire

IDLE_S = 600.0
"""A warm judge without a job ends after this time."""
WAITS = "Waiting: another file of yours is being judged on this machine."
_START_S = 30.0
_ANSWER_S = 10.0
_SLACK_S = 120.0
"""What a job may take beyond the sum of its time-outs before the judge counts as hung."""
_STOP_S = 10.0
_ATTEMPTS = 3
"""A judge may end of idleness in the moment that we connect."""


class NoWarmJudge(Exception):
    """There is none, or it failed in the middle: the job has no result. The text says why."""


@dataclass(frozen=True)
class WarmJudge:
    """The warm judge that goes with this process, whether or not it runs now."""

    folder: PrivateFolder
    idle_s: float = IDLE_S

    def judge(
        self,
        job: JobSpec,
        on_event: Callable[[ProgressEvent], None],
        on_step: Callable[[str], None],
    ) -> RunResult:
        """Judge and wait. An exception in between, such as KeyboardInterrupt, or one of
        `on_event`, stops the job before it goes on. Raises `NoWarmJudge`."""
        try:
            with self._connection(on_step) as connection:
                return _follow(connection, job, on_event, on_step)
        except NotOurs as error:
            raise NoWarmJudge(str(error)) from error
        except subprocess.TimeoutExpired as error:
            raise NoWarmJudge("The warm judge didn't start in time.") from error
        except OSError as error:
            raise NoWarmJudge(f"The warm judge can't be reached: {error}.") from error

    @contextlib.contextmanager
    def _connection(self, on_step: Callable[[str], None]) -> Iterator["_Connection"]:
        name = judge_name()
        for _attempt in range(_ATTEMPTS):
            with contextlib.closing(_Connection(self._connect(name, on_step))) as connection:
                if connection.is_welcome():
                    yield connection
                    return
        raise NoWarmJudge("The warm judge ends whenever it is asked.")

    def _connect(self, name: str, on_step: Callable[[str], None]) -> socket.socket:
        sock = self._try_to_connect(name)
        if sock is not None:
            return sock
        on_step("starting a judge that stays for the next files")
        self._start(name)
        if (sock := self._try_to_connect(name)) is None:
            raise NoWarmJudge("The warm judge ended at once.")
        return sock

    def _try_to_connect(self, name: str) -> socket.socket | None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(_ANSWER_S)
        try:
            sock.connect(str(self.folder.at(f"{name}.sock")))
        except (FileNotFoundError, ConnectionRefusedError):
            sock.close()
            return None
        except BaseException:
            sock.close()
            raise
        return sock

    def _start(self, name: str) -> None:
        """The command returns once the judge, which goes on, accepts connections."""
        import platformdirs

        cache = platformdirs.user_cache_path("kernelbot") / "builds"
        command = [sys.executable, "-P", "-m", "kernelbot.harness", "warm", str(self.folder.path)]
        options = ["--idle-s", str(self.idle_s), "--build-cache", str(cache)]
        with self.folder.at(f"{name}.log").open("wb") as log:
            done = subprocess.run(
                [*command, f"{name}.sock", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(),
                cwd="/",
                timeout=_START_S,
                check=False,
            )
        if done.returncode != 0:
            why = f"exit code {done.returncode}"
            raise NoWarmJudge(f"The warm judge didn't start ({why}).{self._words(name)}")

    def _words(self, name: str) -> str:
        with contextlib.suppress(OSError):
            words = self.folder.at(f"{name}.log").read_text(errors="replace").strip()
            return f" Its last words: {words[-1000:]}" if words else ""
        return ""


class _Connection:
    """JSON lines to a judge and back."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = sock.makefile("rb")

    def close(self) -> None:
        """A job that isn't over is cancelled by that."""
        self._reader.close()
        self._sock.close()

    def is_welcome(self) -> bool:
        """False if the judge is ending. Raises `NoWarmJudge` if it stands still, and `NotOurs`."""
        pid = peer_pid(self._sock)
        try:
            return self.receive(_ANSWER_S) is not None
        except TimeoutError:
            raise NoWarmJudge(
                f"The warm judge (process {pid}) doesn't answer; end it with: kill -9 {pid}."
            ) from None

    def send(self, message: dict[str, Any]) -> None:
        """Raises OSError."""
        self._sock.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, patience_s: float | None) -> dict[str, Any] | None:
        """The next message; None if the judge is gone. Raises TimeoutError."""
        self._sock.settimeout(patience_s)
        try:
            line = self._reader.readline()
        except ConnectionResetError:
            return None
        if not line.endswith(b"\n"):
            return None
        found: dict[str, Any] = json.loads(line)
        return found

    def cancel(self) -> None:
        """Stop the job, and wait until it has stopped."""
        deadline = time.monotonic() + _STOP_S
        with contextlib.suppress(OSError, ValueError):
            self._sock.shutdown(socket.SHUT_WR)
            while (left_s := deadline - time.monotonic()) > 0:
                if self.receive(left_s) is None:
                    return


def _follow(
    connection: _Connection,
    job: JobSpec,
    on_event: Callable[[ProgressEvent], None],
    on_step: Callable[[str], None],
) -> RunResult:
    connection.send(to_wire(job))
    patience_s = None  # nobody knows how long others' jobs take; a judge that dies is noticed
    try:
        while (message := connection.receive(patience_s)) is not None:
            if "result" in message:
                return from_wire(RunResult, message["result"])
            if "lost" in message:
                raise NoWarmJudge(f"The warm judge failed: {message['lost']}")
            if "event" in message:
                patience_s = job.problem.timeouts.together_s + _SLACK_S
                on_event(from_wire(ProgressEvent, message["event"]))
            elif "waits" in message:
                on_step(WAITS)
    except TimeoutError:
        connection.cancel()
        raise NoWarmJudge("The warm judge didn't answer in time.") from None
    except (WireError, ValueError) as error:
        raise NoWarmJudge(f"The warm judge answers what we don't understand: {error}") from error
    except BaseException:
        connection.cancel()
        raise
    raise NoWarmJudge("The warm judge ended in the middle; somebody may have killed it.")
