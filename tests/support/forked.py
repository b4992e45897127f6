"""Commands as processes of their own that don't have to load Python and the command line first.

One process per test session loads them, and forks for each command. The child has arguments, an
environment, a folder and streams of its own. It doesn't show that a command imports all that it
uses: the commands of the documentation, which are started anew, do.
"""

import array
import functools
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import kernelbot
from tests.support import forks

_PACKAGES = ("catalog", "cli", "client", "domain", "render", "schemas")
_MODULES = ("harness.host.host", "server.check", "server.compare", "server.doctor", "server.run")


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
    """Of the process that forks; started at the first call."""
    source = Path(kernelbot.__file__).parents[1]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join((str(source), str(Path(__file__).parents[2]))),
    }
    return forks.started(__name__, (), environment, Path("/"))


def load() -> None:
    """Import all that commands use."""
    for package in _PACKAGES:
        path = importlib.import_module(f"kernelbot.{package}").__path__
        for module in pkgutil.walk_packages(path, f"kernelbot.{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in _MODULES:
        importlib.import_module(f"kernelbot.{name}")
