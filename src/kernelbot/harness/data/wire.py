"""One message, with descriptors, per packet between judge, zygote and runner's init.

Only trusted processes hold these sockets; no author's code ever does.
"""

import os
import socket
import struct
from dataclasses import dataclass
from typing import Generic

from kernelbot.harness.words.message import M, Message, decode, encode

_MAX_BYTES = 64 << 10
_MAX_FDS = 32
_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class Packet(Generic[M]):
    """A received message. `sender_pid` is 0 unless credentials were asked for on the socket."""

    message: M
    fds: tuple[int, ...]
    sender_pid: int


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends that keep message boundaries."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(conn: socket.socket, message: Message, fds: tuple[int, ...] = ()) -> None:
    """Send one message. Raises OSError when the other side is gone."""
    socket.send_fds(conn, [encode(message)], list(fds))


def receive(conn: socket.socket, family: type[M]) -> Packet[M] | None:
    """The next message, or None when the other side is gone. Raises TimeoutError."""
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
    return Packet(decode(family, data), tuple(fds), sender_pid)


def close_all(fds: list[int] | tuple[int, ...]) -> None:
    """Close descriptors that are of no use any more."""
    for fd in fds:
        os.close(fd)
