"""One JSON object, with descriptors, per packet between judge, zygote and runner's init.

Only trusted processes hold these sockets; no author's code ever does.
"""

import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

_MAX_BYTES = 64 << 10
_MAX_FDS = 32
_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class Packet:
    """A received message. `sender_pid` is 0 unless credentials were asked for on the socket."""

    body: dict[str, Any]
    fds: tuple[int, ...]
    sender_pid: int


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends that keep message boundaries."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(conn: socket.socket, body: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
    """Send one message. Raises OSError when the other side is gone."""
    socket.send_fds(conn, [json.dumps(body).encode()], list(fds))


def receive(conn: socket.socket, *, credentials: bool = False) -> Packet | None:
    """The next message, or None when the other side is gone. Raises TimeoutError."""
    if credentials:
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    room = socket.CMSG_SPACE(_MAX_FDS * 4) + socket.CMSG_SPACE(_CREDENTIALS.size)
    try:
        data, ancillary, _, _ = conn.recvmsg(_MAX_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None
    fds: list[int] = []
    sender_pid = 0
    for level, kind, payload in ancillary:
        if level != socket.SOL_SOCKET:
            continue
        if kind == socket.SCM_RIGHTS:
            count = len(payload) // 4
            fds += struct.unpack(f"{count}i", payload[: count * 4])
        elif kind == socket.SCM_CREDENTIALS:
            sender_pid = _CREDENTIALS.unpack(payload)[0]
    if not data:
        close_all(fds)
        return None
    return Packet(json.loads(data), tuple(fds), sender_pid)


def close_all(fds: list[int] | tuple[int, ...]) -> None:
    """Close descriptors that are of no use any more."""
    for fd in fds:
        os.close(fd)
