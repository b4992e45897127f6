"""Warm judges that tests have started."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

from kernelbot.harness.host.warm.folder import PrivateFolder, peer_pid
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.protocol.process_names import ProcessName

_ANSWER_S = 60.0
_BUSY_S = 0.3


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


def busy_runners(home: Path) -> list[int]:
    """Runners that compute: those that wait for a job have used next to nothing."""
    hosts = pids_of_judges(home / "kernelbot")  # none before it has started
    return [pid for host in hosts for pid in busy_below(host)]


def busy_below(ancestor: int) -> list[int]:
    """The same of a process's descendants."""
    found = below(ancestor)
    return [pid for pid in found if _name(pid) == ProcessName.RUNNER and _busy(pid)]


def below(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for child in children_of(pid):
        found += [child, *below(child)]
    return found


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _busy(pid: int) -> bool:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) / os.sysconf("SC_CLK_TCK") > _BUSY_S
    return False
