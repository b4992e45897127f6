"""Finds the warm judge that goes with this process, and starts it if there is none."""

import contextlib
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from kernelbot.harness.host.warm.connection import Connection, NoWarmJudge
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder
from kernelbot.harness.host.warm.names import judge_name
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult
from kernelbot.protocol.late import dataclass
from kernelbot.protocol.os_errors import in_words

_START_S = 30.0
_ANSWER_S = 10.0
_ATTEMPTS = 3
"""A judge may end of idleness in the moment that we connect."""


@dataclass(frozen=True)
class WarmStart:
    """How a warm judge is started."""

    harness: tuple[str, ...]
    """The command that runs the harness."""
    environment: Mapping[str, str] = field(repr=False)
    options: tuple[str, ...]
    """Arguments of its command `warm`."""


@dataclass(frozen=True)
class WarmJudge:
    """The warm judge that goes with this process, whether or not it runs now."""

    folder: PrivateFolder
    how_to_start: Callable[[], WarmStart]
    """Called only if there is none."""
    name: str = field(default_factory=judge_name)

    def judge(
        self,
        job: JobSpec,
        on_event: Callable[[ProgressEvent], None],
        on_step: Callable[[str], None],
    ) -> RunResult:
        """Judge as `Connection.judge` does, over a connection of its own."""
        with self.connected(on_step) as connection:
            return connection.judge(job, on_event, on_step)

    @contextlib.contextmanager
    def connected(self, on_step: Callable[[str], None]) -> Iterator[Connection]:
        """A connection for one job. `on_step` is told if a judge is started first. Raises
        `NoWarmJudge`."""
        for _attempt in range(_ATTEMPTS):
            connection = self._connection(on_step)
            if connection is None:
                continue
            with contextlib.closing(connection):
                if self._is_welcome(connection):
                    yield connection
                    return
        raise NoWarmJudge(f"The warm judge ends whenever it is asked.{self._words()}")

    def _is_welcome(self, connection: Connection) -> bool:
        try:
            return connection.is_welcome()
        except NotOurs as error:
            raise NoWarmJudge(str(error)) from error

    def _connection(self, on_step: Callable[[str], None]) -> Connection | None:
        """None: the judge that was started has ended already, having waited for too long."""
        sock = self._try_to_connect()
        if sock is None:
            on_step("starting a judge that stays for the next files")
            self._start()
            sock = self._try_to_connect()
        return None if sock is None else Connection(sock)

    def _try_to_connect(self) -> socket.socket | None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(_ANSWER_S)
        try:
            sock.connect(str(self.folder.at(f"{self.name}.sock")))
        except (FileNotFoundError, ConnectionRefusedError):
            sock.close()
            return None
        except OSError as error:
            sock.close()
            raise NoWarmJudge(f"The warm judge can't be reached: {in_words(error)}.") from error
        return sock

    def _start(self) -> None:
        """The command returns once the judge, which goes on, accepts connections."""
        start = self.how_to_start()
        command = [*start.harness, "warm", str(self.folder.path), f"{self.name}.sock"]
        try:
            with self.folder.at(f"{self.name}.log").open("wb") as log:
                done = subprocess.run(
                    [*command, *start.options],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=start.environment,
                    cwd="/",
                    timeout=_START_S,
                    check=False,
                )
        except subprocess.TimeoutExpired as error:
            raise NoWarmJudge("The warm judge didn't start in time.") from error
        except OSError as error:
            raise NoWarmJudge(f"The warm judge can't start: {in_words(error)}.") from error
        if done.returncode != 0:
            why = f"exit code {done.returncode}"
            raise NoWarmJudge(f"The warm judge didn't start ({why}).{self._words()}")

    def _words(self) -> str:
        with contextlib.suppress(OSError):
            words = self.folder.at(f"{self.name}.log").read_text(errors="replace").strip()
            return f" Its last words: {words[-1000:]}" if words else ""
        return ""
