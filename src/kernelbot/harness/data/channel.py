"""Length-prefixed messages over a stream socket, with descriptors, a cap and a deadline.

The process at the other end may be hostile: a message is of a kind that it may say, or the bytes of
a file that both ends expect.
"""

import array
import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from kernelbot.harness.data.descriptors import MAX_AT_ONCE, close_apart
from kernelbot.harness.data.wire import close_all
from kernelbot.harness.words.message import M, Message, NotAMessage, decode, encode
from kernelbot.protocol.os_errors import in_words

_HEADER = struct.Struct("<I")
_MAX_FDS = 5
GLANCE_MS = 100.0
_STANDSTILL_S = 5.0
_MAX_READ_BYTES = 1 << 20
DEFAULT_CAP_BYTES = 4 << 20
MAX_PROBLEM_MESSAGE_BYTES = 64 << 20
"""The largest message between the judge and a process of the problem's: all of its files, or a
skeleton, which a runner may have written more briefly."""


class ChannelError(Exception):
    """The conversation is over; subclasses say why."""


class ChannelClosed(ChannelError):
    """The other end is gone."""


class ChannelTimeout(ChannelError):
    """Nothing complete arrived before the deadline."""


class ChannelGarbage(ChannelError):
    """What arrived is not a message that may be said here."""


def framed(body: bytes) -> bytes:
    """A message as it is sent, for whoever writes it to the socket by other means."""
    return _HEADER.pack(len(body)) + body


class Channel:
    """One end of a conversation. Not for use by several threads at once."""

    def __init__(
        self,
        sock: socket.socket,
        cap_bytes: int = DEFAULT_CAP_BYTES,
        alive_fd: int | None = None,
        glance: Callable[[], None] | None = None,
    ) -> None:
        """`alive_fd` becomes readable when the other end's process is dead, even where a child of
        it holds the socket open. `glance` is called about ten times a second while waiting, and
        may raise to end the wait.
        """
        sock.setblocking(False)
        self._alive_fd = alive_fd
        self._glance = glance
        self._sock = sock
        self._cap_bytes = cap_bytes
        self._pending = bytearray()
        self._fds: list[int] = []
        self.stood_still_s = 0.0
        """How long this process stood still while it waited, all times of seconds together: it was
        suspended with its machine, its job or its container. Noted where there is a `glance`."""

    @property
    def sock(self) -> socket.socket:
        """The socket, for polling beside others."""
        return self._sock

    def fileno(self) -> int:
        """The descriptor, for polling."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close the socket; the other end reads the end of the stream."""
        self._sock.close()

    def interrupt(self) -> None:
        """From another thread: end the conversation. Who waits here raises `ChannelClosed`."""
        with contextlib.suppress(OSError):  # the other end is gone, or this one closed
            self._sock.shutdown(socket.SHUT_RDWR)

    def send(
        self, message: Message, fds: Sequence[int] = (), deadline: float | None = None
    ) -> None:
        """Send one message. `deadline` is a time of `time.monotonic()`; None waits for ever."""
        self.send_bytes(encode(message), fds, deadline)

    def send_bytes(
        self, body: bytes, fds: Sequence[int] = (), deadline: float | None = None
    ) -> None:
        """Send a body as it is: JSON text already, or a file's bytes for `receive_bytes`."""
        unsent = [memoryview(_HEADER.pack(len(body))), memoryview(body)]
        ancillary: list[tuple[int, int, Any]] = []
        if fds:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        while unsent:
            try:
                sent = self._sock.sendmsg(unsent, ancillary, socket.MSG_NOSIGNAL)
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
                continue
            except OSError as error:
                raise ChannelClosed(in_words(error)) from error
            ancillary = []
            while unsent and sent >= len(unsent[0]):
                sent -= len(unsent.pop(0))
            if unsent:
                unsent[0] = unsent[0][sent:]

    def receive(self, family: type[M], deadline: float | None = None) -> tuple[M, list[int]]:
        """One message of a family, and the descriptors that came with it (the caller closes them).
        Raises `ChannelGarbage` for anything else."""
        body = self._receive_body(self._cap_bytes, deadline)
        fds, self._fds = self._fds, []
        try:
            return decode(family, body), fds
        except NotAMessage as error:
            if fds:
                close_apart(lambda: close_all(fds))
            raise ChannelGarbage(str(error)) from error

    def receive_bytes(self, max_bytes: int, deadline: float | None = None) -> bytes:
        """One body as it came. Raises `ChannelGarbage` if it has more than `max_bytes`, or brings
        descriptors."""
        body = self._receive_body(max_bytes, deadline)
        if self._fds:
            self._close_descriptors()
            raise ChannelGarbage("descriptors beside a file")
        return body

    def check(self, deadline: float | None = None) -> None:
        """Raise `ChannelTimeout` or `ChannelClosed` if waiting would."""
        _left_ms(deadline)
        if self._alive_fd is not None:
            poller = select.poll()
            poller.register(self._alive_fd, select.POLLIN)
            if poller.poll(0):
                raise ChannelClosed("the process is dead")

    def has_message(self) -> bool:
        """Whether there is something to read right now. Raises `ChannelClosed` at the end."""
        if self._pending:
            return True
        try:
            ahead = self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ChannelClosed(in_words(error)) from error
        if not ahead:
            raise ChannelClosed("end of stream")
        return True

    def _receive_body(self, max_bytes: int, deadline: float | None) -> bytes:
        while (body := self._take_body(max_bytes)) is None:
            self._fill(deadline)
        return body

    def _take_body(self, max_bytes: int) -> bytes | None:
        if len(self._pending) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._pending)
        if length > max_bytes:
            raise ChannelGarbage(f"a message of {length} bytes")
        end = _HEADER.size + length
        if len(self._pending) < end:
            return None
        with memoryview(self._pending) as pending:
            body = bytes(pending[_HEADER.size : end])
        del self._pending[:end]
        return body

    def _missing_bytes(self) -> int:
        """Never read into the next message: its descriptors would be taken for this one's."""
        have = len(self._pending)
        if have < _HEADER.size:
            return _HEADER.size - have
        (length,) = _HEADER.unpack_from(self._pending)
        return min(_HEADER.size + int(length) - have, _MAX_READ_BYTES)

    def _fill(self, deadline: float | None) -> None:
        try:
            data, ancillary, _, _ = self._sock.recvmsg(
                self._missing_bytes(), socket.CMSG_SPACE(MAX_AT_ONCE * 4), socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            self._wait(select.POLLIN, deadline)
            return
        except OSError as error:
            raise ChannelClosed(in_words(error)) from error
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                sent = array.array("i")
                sent.frombytes(payload[: len(payload) - len(payload) % sent.itemsize])
                self._fds.extend(sent)
        if len(self._fds) > _MAX_FDS:
            self._close_descriptors()
            raise ChannelGarbage("more descriptors than any message has")
        if not data:
            raise ChannelClosed("end of stream")
        self._pending += data

    def _close_descriptors(self) -> None:
        fds, self._fds = self._fds, []
        close_apart(lambda: close_all(fds))

    def _wait(self, event: int, deadline: float | None) -> None:
        poller = select.poll()
        self.watch(poller, event)
        while True:
            left_ms = _left_ms(deadline)
            patience = left_ms if self._glance is None else min(left_ms or 1e9, GLANCE_MS)
            since_s = time.monotonic()
            ready = dict(poller.poll(patience))
            if self._glance is not None:
                self.note_standstill(since_s)
            if self.fileno() in ready:
                return
            if ready:
                raise ChannelClosed("the process is dead")
            self.glance()

    def note_standstill(self, since_s: float) -> None:
        """Note if a wait that began at `since_s` was much longer than until the next glance."""
        waited_s = time.monotonic() - since_s
        if waited_s > _STANDSTILL_S:
            self.stood_still_s += waited_s

    def watch(self, poller: select.poll, event: int) -> None:
        """Have `poller` notice `event`, and the death of the other end's process."""
        poller.register(self._sock, event)
        if self._alive_fd is not None:
            poller.register(self._alive_fd, select.POLLIN)

    def glance(self) -> None:
        """What is to be done about ten times a second while waiting."""
        if self._glance is not None:
            self._glance()


def wait_for_any(channels: Sequence[Channel], deadline: float | None) -> list[Channel]:
    """The channels with something to read, as soon as there is one. Raises as one of them would."""
    poller = select.poll()
    for channel in channels:
        channel.watch(poller, select.POLLIN)
    while True:
        left_ms = _left_ms(deadline)
        since_s = time.monotonic()
        ready = dict(poller.poll(min(left_ms or 1e9, GLANCE_MS)))
        for channel in channels:
            channel.note_standstill(since_s)
        found = [channel for channel in channels if channel.fileno() in ready]
        if found:
            return found
        if ready:
            raise ChannelClosed("a process is dead")
        for channel in channels:
            channel.glance()


def _left_ms(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left_ms = (deadline - time.monotonic()) * 1000
    if left_ms <= 0:
        raise ChannelTimeout("the time is up")
    return left_ms
