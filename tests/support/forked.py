"""Commands as processes of their own that don't have to load Python and the command line first.

One process per test session loads them, and forks for each command. The child has arguments, an
environment, a folder and streams of its own. It doesn't show that a command imports all that it
uses: the commands of the documentation, which are started anew, do.
"""

import array
import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import kernelbot

_PACKAGES = ("catalog", "cli", "client", "domain", "render", "schemas")
_MODULES = ("harness.host.host", "server.check", "server.compare", "server.doctor", "server.run")
_STREAMS = 3
_MAX_REQUEST_BYTES = 1 << 20


def run(
    arguments: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    timeout_s: float,
    *,
    program: str = "kernelbot.cli",
    given: bytes = b"",
) -> "subprocess.CompletedProcess[bytes]":
    """As `subprocess.run`, with nobody to ask. `program`: the module whose `main` is called;
    `given`: its standard input. Raises `subprocess.TimeoutExpired`; the command is killed then."""
    request = {
        "program": program,
        "arguments": arguments,
        "folder": str(folder),
        "environment": environment,
    }
    with (
        tempfile.TemporaryFile() as input_,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection,
    ):
        connection.settimeout(timeout_s)
        connection.connect(_address())
        input_.write(given)
        input_.seek(0)
        streams = array.array("i", [input_.fileno(), out.fileno(), err.fileno()])
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)]
        connection.sendmsg([json.dumps(request).encode()], ancillary)
        try:
            code = int(connection.recv(64))
        except TimeoutError:
            raise subprocess.TimeoutExpired(list(arguments), timeout_s) from None
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, out.read(), err.read())


@functools.cache
def _address() -> str:
    """Of the process that forks, which ends with this one; started at the first call."""
    address = f"\0kernelbot-forks-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-P", "-m", __name__, address[1:]]
    source = Path(kernelbot.__file__).parents[1]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join((str(source), str(Path(__file__).parents[2]))),
    }
    forks = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
    atexit.register(forks.communicate)
    assert forks.stdout is not None
    assert b"ready\n" == forks.stdout.readline()
    return address


class _Forks:
    """The loop of the process that forks."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, tuple[int, socket.socket]] = {}
        """By the descriptor of a child: its number, and who waits for it."""

    def serve(self) -> dict[str, Any] | None:
        """Returns in each child with what it is to do, and in the end with None."""
        while True:
            poller = select.poll()
            for descriptor in (0, self._listener.fileno(), *self._running):
                poller.register(descriptor, select.POLLIN)
            for _child, connection in self._running.values():
                poller.register(connection, select.POLLRDHUP)
            ready = dict(poller.poll())
            if 0 in ready:
                return None
            self._answer(ready)
            if self._listener.fileno() in ready and (found := self._fork()) is not None:
                return found

    def _answer(self, ready: dict[int, int]) -> None:
        for descriptor, (child, connection) in list(self._running.items()):
            if connection.fileno() in ready:
                os.kill(child, 9)
            elif descriptor not in ready:
                continue
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with connection:
                if connection.fileno() not in ready:
                    connection.send(str(code).encode())
            os.close(descriptor)
            del self._running[descriptor]

    def _fork(self) -> dict[str, Any] | None:
        connection, _ = self._listener.accept()
        body, streams, _flags, _from = socket.recv_fds(connection, _MAX_REQUEST_BYTES, _STREAMS)
        if (child := os.fork()) != 0:
            for descriptor in streams:
                os.close(descriptor)
            self._running[os.pidfd_open(child)] = child, connection
            return None
        for descriptor, (_child, other) in self._running.items():
            os.close(descriptor)
            other.close()
        connection.close()
        self._listener.close()
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        found: dict[str, Any] = json.loads(body)
        return found


def _load() -> None:
    for package in _PACKAGES:
        path = importlib.import_module(f"kernelbot.{package}").__path__
        for module in pkgutil.walk_packages(path, f"kernelbot.{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in _MODULES:
        importlib.import_module(f"kernelbot.{name}")


def main() -> None:
    """Load, tell that commands are taken, and become each of them."""
    _load()
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{sys.argv[1]}")
        listener.listen()
        os.write(1, b"ready\n")
        order = _Forks(listener).serve()
    if order is None:
        return
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv[1:] = order["arguments"]
    try:
        importlib.import_module(order["program"]).main()
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else 0)


def _leave(code: int) -> NoReturn:
    """End as Python does, but without taking apart all that was loaded: that takes longer than
    most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
