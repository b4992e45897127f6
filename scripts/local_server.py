"""A temporary platform: `kernelbot serve` as a child, stopped with all its processes."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from kernelbot.client import Endpoint, find_endpoint
from kernelbot.client.endpoint import ClientFiles
from scripts.ports import free_port
from scripts.processes import Process, family, survivors

MARKER = "KERNELBOT_LOCAL_SERVER"
READY_WITHIN_S = 100.0
STOPPED_WITHIN_S = 60.0
GONE_WITHIN_S = 60.0
"""For the last of its processes, which may have been killed just now."""


class ServerTrouble(RuntimeError):
    """The server didn't start, or didn't stop; the text holds the end of its log."""


class LocalServer:
    """Runs while the `with` block does. Everything it writes is under `folder`.

    `options` are further ones of `serve`, `variables` of its environment; `pass_fds` stay open in
    the server. `before`: a command that becomes the server by executing its arguments, say, as
    another account. Raises `ServerTrouble` when the server isn't ready in time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        config: Path | None = None,
        options: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = (),
        variables: Mapping[str, str] | None = None,
        before: tuple[str, ...] = (),
        ready_within_s: float = READY_WITHIN_S,
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "serve.log"
        self.leftovers: list[Process] = []
        """After the block: processes of the server that outlived it."""
        self.marker = f"{MARKER}={secrets.token_hex(8)}"
        """In the environment of all its processes."""
        self._config = config
        self._options = options
        self._pass_fds = pass_fds
        self._variables = dict(variables or {})
        self._before = before
        self._ready_within_s = ready_within_s

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *self._before,
                    *_ends_with_us(),
                    *(sys.executable, "-m", "kernelbot", "serve"),
                    *("--host", "127.0.0.1", "--port", str(self.port)),
                    *("--data", str(self.folder / "data")),
                    *self._options,
                ],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C goes to our own process; the server is then stopped in order.
                start_new_session=True,
                pass_fds=self._pass_fds,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of `kernelbot serve` itself."""
        return self._process.pid

    def environment(self) -> dict[str, str]:
        """For the server and for clients that should find it and nothing else."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DATABASE_URL", "KERNELBOT_TOKEN", "POPCORN_API_URL"}
        }
        ours = {
            MARKER: self.marker.removeprefix(f"{MARKER}="),
            "KERNELBOT_URL": self.url,
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        if self._config is not None:
            ours["KERNELBOT_CONFIG"] = str(self._config)
        return kept | self._variables | ours

    def own_endpoint(self) -> Endpoint:
        """The server as its own account reaches it; nothing else on this machine counts."""
        nowhere = self.folder / "config" / "none"
        servers = self.folder / "state" / "kernelbot" / "servers"
        places = ClientFiles(config=nowhere, servers=servers, popcorn=nowhere)
        return find_endpoint(self.url, environ={}, places=places)

    def processes(self) -> set[Process]:
        """Everything that belongs to the server just now."""
        return family(self.pid, self.marker)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL to whatever is still there when the time is over."""
        members = self.processes()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.leftovers = _still_there(members | self.processes(), within_s=GONE_WITHIN_S)
        for process in self.leftovers:
            # One that ends with another (Postgres ends its own) is gone when its turn comes.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def last_words(self, lines: int = 20) -> str:
        """The end of the server's log."""
        text = self.log.read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _is_ready(self, client: httpx.Client) -> bool:
        try:
            return client.get(f"{self.url}/ready/judging").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._ready_within_s
        # One client, and fewer questions on a slow machine: each new one reads all certificates,
        # which would take the server's processor from it.
        with httpx.Client(timeout=self._ready_within_s / 12, trust_env=False) as client:
            while time.monotonic() < deadline:
                if self._process.poll() is not None:
                    raise ServerTrouble(f"The server stopped at once:\n{self.last_words()}")
                if self._is_ready(client):
                    return
                time.sleep(self._ready_within_s / 1200)
        raise ServerTrouble(
            f"The server wasn't ready within {self._ready_within_s:.0f} s:\n{self.last_words()}"
        )


def _ends_with_us() -> tuple[str, ...]:
    """A command that makes Linux send the server SIGTERM if we are killed and can't stop it."""
    return ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()


def _still_there(processes: set[Process], within_s: float) -> list[Process]:
    deadline = time.monotonic() + within_s
    while (left := survivors(processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
