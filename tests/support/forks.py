"""A process that has loaded what its children need, and forks one for each request.

Each child has the environment, the folder and the streams of who asks for it, and ends with them.
"""

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

_STREAMS = 3
_MAX_REQUEST_BYTES = 1 << 20


def started(
    loader: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
) -> str:
    """The address of a new such process, which ends with this one. It begins by calling `load` of
    the module `loader` with these arguments; whoever connects waits until it has."""
    address = f"\0kernelbot-forks-{os.getpid()}-{time.monotonic_ns()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        forks = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(listener.fileno()), loader, *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            cwd=folder,
        )
    atexit.register(forks.communicate)
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


def main() -> None:
    """Load, fork for each request, and be each of the children."""
    descriptor, loader, *arguments = sys.argv[1:]
    with socket.socket(fileno=int(descriptor)) as listener:
        listener.set_inheritable(False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks ends with it
        importlib.import_module(loader).load(*arguments)
        gc.freeze()
        order = _Forks(listener).serve()
    if order is None:
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv[1:] = order["arguments"]
    try:
        importlib.import_module(order["program"]).main()
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else 0)
    _leave(0)


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
