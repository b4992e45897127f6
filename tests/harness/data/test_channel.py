"""The conversation with a process that may be hostile."""

import os
import signal
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from kernelbot.harness.data import channel as channel_module
from kernelbot.harness.data.channel import (
    Channel,
    ChannelClosed,
    ChannelGarbage,
    ChannelTimeout,
)
from kernelbot.harness.words.runner_messages import NoGpu, Packed, RunnerReply

Ends = tuple[Channel, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield Channel(mine, cap_bytes=1000), theirs


def soon() -> float:
    return time.monotonic() + 0.1  # for what never comes


def later() -> float:
    return time.monotonic() + 60


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def test_messages_keep_their_order_and_their_descriptors() -> None:
    one, other = socket.socketpair()
    near, far = Channel(one), Channel(other)
    reading, writing = os.pipe()
    near.send(Packed(1))
    near.send(Packed(2), [writing])
    assert (Packed(1), []) == far.receive(RunnerReply, later())
    message, fds = far.receive(RunnerReply, later())
    assert (Packed(2), 1) == (message, len(fds))
    for fd in (reading, writing, *fds):
        os.close(fd)
    near.close()
    far.close()


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"nonsense", b"[1]", b'"text"', b"\xff\xfe", b"[" * 900, b"NaN", b"{}"),
        *(b'{"op": "setup"}', b'{"op": "packed"}', b'{"op": "packed", "size": "1"}'),
        *(b'{"op": "packed", "size": 1.0}', b'{"op": "packed", "size": 1, "more": 1}'),
    ],
)
def test_what_is_no_message_is_garbage(ends: Ends, body: bytes) -> None:
    channel, theirs = ends
    theirs.sendall(frame(body))
    with pytest.raises(ChannelGarbage):
        channel.receive(RunnerReply, later())


def test_a_huge_announcement_is_refused_before_it_is_read(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(struct.pack("<I", 1 << 31))
    with pytest.raises(ChannelGarbage, match="2147483648 bytes"):
        channel.receive(RunnerReply, later())


def test_a_file_arrives_as_it_was_sent(ends: Ends) -> None:
    channel, theirs = ends
    Channel(theirs).send_bytes(b"\x00\xff")
    Channel(theirs).send(Packed(1))
    assert (b"\x00\xff", Packed(1)) == (
        channel.receive_bytes(2),
        channel.receive(RunnerReply, later())[0],
    )


def test_a_file_that_is_too_large_is_refused(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(frame(b"xyz"))
    with pytest.raises(ChannelGarbage, match="3 bytes"):
        channel.receive_bytes(2, later())


def test_a_file_with_descriptors_is_refused(ends: Ends) -> None:
    channel, theirs = ends
    Channel(theirs).send_bytes(b"x", [0])
    with pytest.raises(ChannelGarbage, match="descriptors"):
        channel.receive_bytes(1, later())


def test_silence_ends_at_the_deadline(ends: Ends) -> None:
    channel, theirs = ends
    theirs.sendall(frame(b'{"half": 1}')[:6])
    with pytest.raises(ChannelTimeout):
        channel.receive(RunnerReply, soon())


def test_a_process_that_was_suspended_while_it_waited_knows_it(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, _ = ends
    monkeypatch.setattr(channel_module, "_STANDSTILL_S", 0.3)
    waiting = os.fork()
    if waiting == 0:
        monkeypatch.setattr(channel, "_glance", lambda: channel.stood_still_s and os._exit(0))
        try:
            channel.receive(RunnerReply, later())
        finally:
            os._exit(1)
    while (ended := os.waitpid(waiting, os.WNOHANG)) == (0, 0):
        os.kill(waiting, signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(waiting, signal.SIGCONT)
        time.sleep(0.2)
    assert (waiting, 0) == ended


def test_a_reader_that_never_reads_does_not_hold_the_sender(ends: Ends) -> None:
    channel, _ = ends
    with pytest.raises(ChannelTimeout):
        channel.send(NoGpu("x" * (8 << 20)), deadline=soon())


def test_the_end_of_the_stream_is_noticed(ends: Ends) -> None:
    channel, theirs = ends
    theirs.close()
    with pytest.raises(ChannelClosed):
        channel.receive(RunnerReply, later())


def test_a_dead_process_is_noticed_though_its_child_holds_the_socket() -> None:
    mine, theirs = socket.socketpair()
    dead, alive = os.pipe()
    os.write(alive, b"x")  # readable, as the descriptor of a dead process is
    channel = Channel(mine, alive_fd=dead)
    with pytest.raises(ChannelClosed, match="dead"):
        channel.receive(RunnerReply, later())
    for fd in (dead, alive):
        os.close(fd)
    channel.close()
    theirs.close()
