"""Limits on HTTP connections: their number, the size of a head, and the time without progress.

Uvicorn alone reads heads of any size, waits for ever for missing bytes, and answers bad requests
in its own format.
"""

import asyncio
import resource
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from kernelbot.api.errors import error_response

log = structlog.get_logger(__name__)

_KEPT_FILES = 256
"""Open files that aren't HTTP connections: database, logs, uploads, children."""
_MAX_FILES = 65_536
_READ_AT_ONCE_BYTES = 16 << 10
_PER_HEADER_BYTES = 32
"""Bytes counted for each header besides its text, as in HTTP/2: short ones use memory, too."""
_LINGER_S = 2.0
"""How long a refused client may continue to send."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Sizes in bytes, times in seconds, of one process."""

    head_bytes: int = 32 << 10
    """Size of a request's line and headers, and of the trailers after its body."""
    head_s: float = 20.0
    """From the first byte that is waited for until the head is whole."""
    silence_s: float = 30.0
    """How long an incomplete body may pause, or the client not read an answer."""
    max_connections: int = 4096
    """Connections at once. Beyond that, the one that has kept us waiting longest is closed."""


def raise_open_files() -> None:
    """Raise the soft limit of open files, of this process and those it starts, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connection_limits() -> ConnectionLimits:
    """The defaults, with no more connections than the limit of open files allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _MAX_FILES if soft == resource.RLIM_INFINITY else soft
    return ConnectionLimits(
        max_connections=min(ConnectionLimits.max_connections, max(files - _KEPT_FILES, files // 2))
    )


class Connections:
    """What the connections of one server share. Calling it makes the protocol of a new one."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.waiting: dict[BoundedHttp, None] = {}
        """The connections whose client we wait for, the longest wait first."""

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "BoundedHttp":
        """The protocol of a new connection, as uvicorn calls it."""
        return BoundedHttp(self, config, server_state, app_state, _loop)

    def make_room(self, count: int) -> bool:
        """If there are too many, close the connection that we have waited for longest. False: there
        is none to close."""
        if count <= self.limits.max_connections:
            return True
        longest = next(iter(self.waiting), None)
        if longest is None:
            return False
        longest.give_up()
        longest.transport.close()  # at once, even if the client doesn't read why
        return True


class BoundedHttp(HttpToolsProtocol):
    """One connection, within the limits. A refusal is an `ErrorBody`, as everywhere."""

    def __init__(
        self,
        shared: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._shared = shared
        self._limits = shared.limits
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = False
        self._head_bytes = 0
        """Size of the head or trailers being read, as far as the parser has reported them."""
        self._unparsed_bytes = 0
        """Bytes received since the parser reported anything: it keeps a header until it is
        complete."""
        self._unsent_bytes = 0
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for its first request, if there is room."""
        super().connection_made(transport)
        if self._shared.make_room(len(self.connections)):
            self._await_head()
        else:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece at a time, so that no head grows by much before it is measured."""
        for start in range(0, len(data), _READ_AT_ONCE_BYTES):
            if self._refused or self.transport.is_closing():
                return
            piece = data[start : start + _READ_AT_ONCE_BYTES]
            self._unparsed_bytes += len(piece)
            super().data_received(piece)
            if self._unparsed_bytes > self._limits.head_bytes:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if not self._refused and not self.transport.is_closing():
            self._wait_on()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._in_head = True
        self._head_bytes = self._unparsed_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Count the request's line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, or a trailer."""
        self._count(len(name) + len(value) + _PER_HEADER_BYTES)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._in_head = False
        self._head_bytes = self._unparsed_bytes = 0
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._unparsed_bytes = 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Between two requests it may be closed to make room."""
        super().on_response_complete()
        self._may_make_way()

    def pause_writing(self) -> None:
        """The client doesn't read the answer: close the connection if that lasts too long."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """The client reads the answer again."""
        super().resume_writing()
        self._may_make_way()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # its words are uvicorn's own
        """Refuse a request that the parser can't read; our callbacks' errors get here, too."""
        too_large = self._head_bytes > self._limits.head_bytes
        self._refuse(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if too_large else HTTPStatus.BAD_REQUEST
        )

    def give_up(self) -> None:
        """Stop waiting, and answer a client that has begun a request."""
        self._stop_waiting()
        begun = self._in_head or (self._is_busy() and not self.cycle.response_started)
        if begun and not self._refused:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.transport.close()

    def _count(self, length: int) -> None:
        self._unparsed_bytes = 0
        self._head_bytes += length
        if self._head_bytes > self._limits.head_bytes:
            raise ValueError(
                "The head is too large."
            )  # the parser stops and reports it as a mistake

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _may_make_way(self) -> None:
        if not (self._is_busy() or self.flow.write_paused or self.transport.is_closing()):
            self._shared.waiting[self] = None

    def _wait_on(self) -> None:
        """After everything received was read: how long to wait for more, if more must come."""
        if not self._is_busy():
            self._await_head()
        elif self.cycle.more_body:
            self._await(self._limits.silence_s)

    def _await_head(self) -> None:
        if self._timer is None:  # else the timer runs, and single bytes don't restart it
            self._await(self._limits.head_s)

    def _await(self, within_s: float) -> None:
        self._stop_waiting()
        self._shared.waiting[self] = None
        self._timer = self.loop.call_later(within_s, self._waited)

    def _stop_waiting(self) -> None:
        self._shared.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _waited(self) -> None:
        self._timer = None
        if self.transport.is_closing():
            return
        if self._is_busy() and self.flow.read_paused and not self._refused:
            self._await(self._limits.silence_s)  # we are the ones who don't read
        else:
            self.give_up()

    def _watch_writing(self) -> None:
        self._unsent_bytes = self.transport.get_write_buffer_size()
        self.loop.call_later(self._limits.silence_s, self._check_writing)

    def _check_writing(self) -> None:
        if not self.flow.write_paused:
            return
        if self.transport.get_write_buffer_size() >= self._unsent_bytes:
            self.transport.abort()
        else:
            self._watch_writing()

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer and close, and read nothing more. If an earlier request is being answered, that
        is finished first and then closes the connection itself."""
        self._refused = True
        self._stop_waiting()
        log.warning("connection_refused", status=int(status))
        if self._is_busy() and not self.cycle.more_body:
            self.cycle.keep_alive = False
            return
        if self._is_busy():
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        self.transport.write(_answer(status))
        # A client still sending when the connection closes sees a reset and never reads why.
        self.transport.write_eof()
        self._await(_LINGER_S)


_SENTENCES = {
    HTTPStatus.BAD_REQUEST: ("bad_request", "The request can't be read: it isn't HTTP."),
    HTTPStatus.REQUEST_TIMEOUT: (
        "too_slow",
        "The request didn't arrive in time. Please send it again.",
    ),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        "headers_too_large",
        "The request's headers are too large. Please send fewer or shorter ones.",
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        "too_many_connections",
        "There are too many connections just now. Please try again in a moment.",
    ),
}


def _answer(status: HTTPStatus) -> bytes:
    response = error_response(status, *_SENTENCES[status], {"Connection": "close"})
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in response.raw_headers)
    return head + lines + b"\r\n" + bytes(response.body)
