"""The runner's side of `run_command`: one program in the fresh work folder, and what it left."""

import json
import os
import socket
import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelbot.harness.sandbox import kernel

_LENGTH = struct.Struct("!Q")
COLLECT_LIMIT_BYTES = 128 << 20
"""All collected files together."""


@dataclass(frozen=True)
class CommandOrder:
    """What to start. File contents follow on the channel, in the order of `files`."""

    argv: tuple[str, ...]
    env: dict[str, str]
    files: tuple[str, ...]
    collect: tuple[str, ...]
    popcorn_fd: bool
    """One descriptor comes with the order; the command inherits it as `POPCORN_FD`."""

    def to_bytes(self) -> bytes:
        """As JSON text."""
        return json.dumps(asdict(self)).encode()


def send_block(channel: socket.socket, block: bytes, fds: tuple[int, ...] = ()) -> None:
    """Send one length-prefixed block; descriptors ride on its first bytes."""
    socket.send_fds(channel, [_LENGTH.pack(len(block))], list(fds))
    channel.sendall(block)


def receive_block(channel: socket.socket, limit_bytes: int) -> bytes:
    """The next block. Raises EOFError when it is cut short, ValueError beyond `limit_bytes`."""
    (length,) = _LENGTH.unpack(_receive_exactly(channel, _LENGTH.size))
    if length > limit_bytes:
        raise ValueError(f"a block of {length} bytes, more than {limit_bytes}")
    return _receive_exactly(channel, length)


def _receive_exactly(channel: socket.socket, length: int) -> bytes:
    parts: list[bytes] = []
    missing = length
    while missing:
        part = channel.recv(min(missing, 1 << 20))
        if not part:
            raise EOFError("the channel was closed")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def serve(channel: socket.socket) -> None:
    """Follow one `CommandOrder`, then report and send the collected files."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the command must not look into this process
    order, fds = _receive_order(channel)
    for name in order["files"]:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(receive_block(channel, 1 << 40))
        path.chmod(0o755)  # it may be a program
    env = {**os.environ, **order["env"]}
    if order["popcorn_fd"]:
        os.set_inheritable(fds[0], True)
        env["POPCORN_FD"] = str(fds[0])
    try:
        pid = os.posix_spawnp(order["argv"][0], order["argv"], env)
    except OSError as error:
        send_block(channel, json.dumps({"error": str(error), "collected": []}).encode())
        return
    for fd in fds:
        os.close(fd)
    _, wait_status = os.waitpid(pid, 0)
    _report(channel, wait_status, order["collect"])


def _receive_order(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    header, fds, _, _ = socket.recv_fds(channel, _LENGTH.size, 4)
    header += _receive_exactly(channel, _LENGTH.size - len(header))
    text = _receive_exactly(channel, _LENGTH.unpack(header)[0])
    return json.loads(text), fds


def _report(channel: socket.socket, wait_status: int, collect: list[str]) -> None:
    found: list[tuple[str, bytes]] = []
    room = COLLECT_LIMIT_BYTES
    for name in collect:
        path = Path(name)
        if path.is_symlink() or not path.is_file() or path.stat().st_size > room:
            continue
        content = path.read_bytes()
        room -= len(content)
        found.append((name, content))
    report = {"wait_status": wait_status, "collected": [name for name, _ in found]}
    send_block(channel, json.dumps(report).encode())
    for _, content in found:
        send_block(channel, content)
