"""Ports for servers that are told theirs before they start."""

import contextlib
import secrets
import socket
from pathlib import Path

_OF_CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST, _TRIES = 10_000, 100


def free_ports(count: int) -> list[int]:
    """Different ports that are free, below those that the system gives to connections and to
    whoever asks for any port: until its server has started, one of these would now and then be
    somebody else's."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(_bound()) for _ in range(count)]
        return [one.getsockname()[1] for one in found]


def free_port() -> int:
    """One of them."""
    (port,) = free_ports(1)
    return port


def first_of_connections() -> int:
    """The first port that the system may give to a connection; 0 if that is unknown."""
    try:
        return int(_OF_CONNECTIONS.read_text().split()[0])
    except OSError:  # not on Linux
        return 0


def _bound() -> socket.socket:
    """A socket that has such a port; any free one if there is none."""
    choice = first_of_connections() - _FIRST
    for _ in range(_TRIES if choice > 0 else 0):
        with contextlib.suppress(OSError):  # somebody has it
            return _bound_to(_FIRST + secrets.randbelow(choice))
    return _bound_to(0)


def _bound_to(port: int) -> socket.socket:
    made = socket.socket()
    try:
        made.bind(("", port))
    except OSError:
        made.close()
        raise
    return made
