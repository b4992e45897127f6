"""The runner's side of `run_command`: one program in the fresh work folder, and what it left."""

import os
import socket
from pathlib import Path

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.inside import kernel
from kernelbot.harness.words.message import Message
from kernelbot.protocol.os_errors import in_words

_FROM_JUDGE_BYTES = (1 << 32) - 1
"""The largest order, or file, that the judge sends: it is trusted, and a length has no more."""
COLLECT_LIMIT_BYTES = 128 << 20
"""All collected files together."""


class CommandRequest(Message):
    """What the judge says."""


class CommandOrder(CommandRequest, word="command"):
    """What to start. File contents follow on the channel, in the order of `files`."""

    argv: tuple[str, ...]
    env: dict[str, str]
    files: tuple[str, ...]
    collect: tuple[str, ...]
    popcorn_fd: bool
    """One descriptor comes with the order; the command inherits it as `POPCORN_FD`."""


class CommandReply(Message):
    """What the runner's side says."""


class NoSuchCommand(CommandReply, word="none"):
    """The program couldn't be started."""

    error: str


class CommandEnded(CommandReply, word="ended"):
    """How the command ended. The files of these names follow on the channel."""

    wait_status: int
    collected: tuple[str, ...]


def serve(sock: socket.socket) -> None:
    """Follow one `CommandOrder`, then report and send the collected files."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the command must not look into this process
    channel = Channel(sock, _FROM_JUDGE_BYTES)
    order, fds = channel.receive(CommandRequest)
    if not isinstance(order, CommandOrder):
        raise AssertionError("there is one kind of order")
    for name in order.files:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(channel.receive_bytes(_FROM_JUDGE_BYTES))
        path.chmod(0o755)  # it may be a program
    env = {**os.environ, **order.env}
    if order.popcorn_fd:
        os.set_inheritable(fds[0], True)
        env["POPCORN_FD"] = str(fds[0])
    try:
        pid = os.posix_spawnp(order.argv[0], order.argv, env)
    except OSError as error:
        channel.send(NoSuchCommand(in_words(error)))
        return
    for fd in fds:
        os.close(fd)
    _, wait_status = os.waitpid(pid, 0)
    _report(channel, wait_status, order.collect)


def _report(channel: Channel, wait_status: int, collect: tuple[str, ...]) -> None:
    found: list[tuple[str, bytes]] = []
    room = COLLECT_LIMIT_BYTES
    for name in collect:
        path = Path(name)
        if path.is_symlink() or not path.is_file() or path.stat().st_size > room:
            continue
        content = path.read_bytes()
        room -= len(content)
        found.append((name, content))
    channel.send(CommandEnded(wait_status, tuple(name for name, _ in found)))
    for _, content in found:
        channel.send_bytes(content)
