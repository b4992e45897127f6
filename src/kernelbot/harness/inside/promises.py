"""Looking around from inside a runner: which promises of the sandbox hold. Used by the probe."""

import ctypes
import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

_PTRACE_TRACEME = 0


def main() -> None:
    """Print a JSON object: each promise, and whether it was found to hold."""
    print(json.dumps({promise: check() for promise, check in _PROMISES.items()}))


def _status(key: str) -> str:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return value.strip()
    return ""


def _is_alone() -> bool:
    return all(int(path.name) < 10 for path in Path("/proc").glob("[0-9]*"))


def _has_no_network() -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("192.0.2.1", 80)) == errno.ENETUNREACH


def _is_read_only() -> bool:
    return not any(os.access(folder, os.W_OK) for folder in ("/", "/usr", "/etc", "/dev"))


def _hides_the_host() -> bool:
    return not Path("/etc/shadow").exists() and all(
        _leads_to_python_alone(Path(path)) for path in ("/home", "/var", "/run")
    )


def _leads_to_python_alone(folder: Path) -> bool:
    """The interpreter keeps its place, which may lie in a home; nothing else there is shown."""
    prefixes = (Path(sys.prefix), Path(sys.base_prefix))
    ways = {p.relative_to(folder).parts[0] for p in prefixes if p.is_relative_to(folder)}
    return not folder.exists() or {entry.name for entry in folder.iterdir()} <= ways


def _refuses_ptrace() -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(_PTRACE_TRACEME, 0, 0, 0) == -1 and ctypes.get_errno() == errno.EPERM


def _has_private_folders() -> bool:
    return all(os.access(path, os.W_OK) and not os.listdir(path) for path in ("/box", "/dev/shm"))  # noqa: PTH208, S108


_PROMISES: dict[str, Callable[[], bool]] = {
    "unprivileged user": lambda: os.getresuid() == (1000, 1000, 1000),
    "no capabilities": lambda: all(
        int(_status(key), 16) == 0 for key in ("CapPrm", "CapEff", "CapBnd")
    ),
    "no_new_privs": lambda: _status("NoNewPrivs") == "1",
    "seccomp": lambda: _status("Seccomp") == "2" and _refuses_ptrace(),
    "pid namespace": _is_alone,
    "no network": _has_no_network,
    "read-only system": _is_read_only,
    "nothing of the host's files": _hides_the_host,
    "private /box, /tmp and /dev/shm": _has_private_folders,
}
