"""Warm judges that tests have started."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from kernelbot.harness.host.warm.folder import PrivateFolder, peer_pid

_ANSWER_S = 60.0


@contextlib.contextmanager
def connected(folder: PrivateFolder, name: str) -> Iterator[socket.socket]:
    """A connection to a socket in the folder."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_ANSWER_S)
        sock.connect(str(folder.at(name)))
        yield sock


def pids_of_judges(path: Path) -> list[int]:
    """Those whose sockets are in the folder, and that accept connections."""
    found = []
    with contextlib.closing(PrivateFolder.open(path)) as folder:
        for name in folder.names():
            if name.endswith(".sock"):
                with contextlib.suppress(OSError), connected(folder, name) as sock:
                    found.append(peer_pid(sock))
    return found


def end_judges(folder: PrivateFolder) -> None:
    """End all whose sockets are in the folder."""
    for name in folder.names():
        if name.endswith(".sock"):
            with contextlib.suppress(OSError), connected(folder, name) as sock:
                os.kill(peer_pid(sock), signal.SIGTERM)
