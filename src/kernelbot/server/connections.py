"""Limits on HTTP connections: their number, the size of a head, and the time without progress.

Uvicorn alone reads heads of any size, waits for ever for missing bytes, and answers bad requests
in its own format.
"""

import asyncio
import fcntl
import struct
import termios
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from http import HTTPStatus
from itertools import chain
from typing import Any

import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from kernelbot.api.departures import PRESENCE, Presence
from kernelbot.api.dependencies import BELONGS_TO
from kernelbot.api.errors import error_response
from kernelbot.server.connection_limits import ConnectionLimits, counted_address

log = structlog.get_logger(__name__)

_READ_AT_ONCE_BYTES = 16 << 10
_PER_HEADER_BYTES = 32
"""Bytes counted for each header besides its text, as in HTTP/2: short ones use memory, too."""
_LINGER_S = 2.0
"""How long a refused client may continue to send."""


class Connections:
    """What the connections of one server share. Calling it makes the protocol of a new one."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.waiting: dict[BoundedHttp, None] = {}
        """The connections whose client we wait for, the longest wait first."""
        self.unread: dict[BoundedHttp, float] = {}
        """Those whose client doesn't read what was sent, since when, the longest first."""
        self.of_address: Counter[str] = Counter()
        """How many connections each address has that is counted."""
        self.of_account: Counter[int] = Counter()
        """On how many connections each account is being answered, or hasn't read the answer."""

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "BoundedHttp":
        """The protocol of a new connection, as uvicorn calls it."""
        return BoundedHttp(self, config, server_state, app_state, _loop)

    def refusal(self, new: "BoundedHttp") -> HTTPStatus | None:
        """Why there is no room for a new connection; None: there is. If its address has too many,
        or all have, one makes way that we wait for or that doesn't read, the longest first."""
        limits, address = self.limits, new.address
        too_many_of_it = address is not None and self.of_address[address] > limits.per_address
        if too_many_of_it and not self._close_one(new, lambda one: one.address == address):
            return HTTPStatus.TOO_MANY_REQUESTS
        # `new` is among them, and so is one that makes way, until it has gone.
        too_many = len(new.connections) > limits.max_connections and not too_many_of_it
        if too_many and not self._close_one(new, lambda _: True):
            return HTTPStatus.SERVICE_UNAVAILABLE
        return None

    def has_room_for(self, new: "BoundedHttp", account: int) -> bool:
        """Whether an account may be answered on one more connection; if there are too many, one of
        its own makes way, as above."""
        if self.of_account[account] < self.limits.per_account:
            return True
        return self._close_one(new, lambda one: one.account == account)

    def _close_one(self, new: "BoundedHttp", may_go: "Callable[[BoundedHttp], bool]") -> bool:
        for one in chain(self.waiting, self._slow_readers(new.loop.time())):
            if one is not new and may_go(one):
                one.make_way()
                return True
        return False

    def _slow_readers(self, now_s: float) -> Iterator["BoundedHttp"]:
        for one, since_s in self.unread.items():
            if now_s - since_s < self.limits.unread_s:
                return
            yield one


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
        self._write_timer: asyncio.TimerHandle | None = None
        self._unread_bytes = 0
        self._is_kept = False
        """Whether it waits for the next request since longer than it may, only because the last
        answer isn't read."""
        self._refused = False
        self.address: str | None = None
        """The address if its connections are counted; None: they aren't."""
        self._presence = Presence()
        self.account: int | None = None
        """Whose answer is made or read; None: nobody's who has said who they are."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for its first request, if there is room."""
        super().connection_made(transport)
        # Writing is paused while anything isn't with the kernel yet, so no answer that nobody
        # reads, however short, is overlooked.
        transport.set_write_buffer_limits(high=0)
        self.address = counted_address(self.client, self._limits)
        if self.address is not None:
            self._shared.of_address[self.address] += 1
        refusal = self._shared.refusal(self)
        if refusal is None:
            self._await_head()
        else:
            self._refuse(refusal)
            self.transport.close()

    def shutdown(self) -> None:
        """The server stops: the answer that is being made is the last."""
        super().shutdown()
        self._presence.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        self._forget_account()
        if self.address is not None:
            _count_down(self._shared.of_address, self.address)
        super().connection_lost(exc)
        self._presence.end()

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
        super().on_message_begin()
        self.scope["state"][BELONGS_TO] = self.belongs_to
        self.scope["state"][PRESENCE] = self._presence
        self._in_head = True
        self._head_bytes = self._unparsed_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Count the request's line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + _PER_HEADER_BYTES)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_bytes = self._unparsed_bytes = 0
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Between two requests it is nobody's, and may be closed to make room."""
        if not self.flow.write_paused:
            self._forget_account()
        super().on_response_complete()
        self._may_make_way()

    def belongs_to(self, account: int) -> bool:
        """Count the connection as an account's until it has read the answer. False: it has too
        many, all of which are being answered and read."""
        if self.account != account:
            self._forget_account()
            if not self._shared.has_room_for(self, account):
                return False
            self.account = account
            self._shared.of_account[account] += 1
        return True

    def pause_writing(self) -> None:
        """The client doesn't read the answer: close the connection if that lasts too long."""
        super().pause_writing()
        self._shared.unread[self] = self.loop.time()
        self._watch_writing()

    def resume_writing(self) -> None:
        """The client has read enough of the answer."""
        super().resume_writing()
        self._stop_watching()
        if not self._is_busy():
            self._forget_account()
        self._may_make_way()
        if self._is_kept and not self._is_busy() and not self.transport.is_closing():
            self._is_kept = False
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def timeout_keep_alive_handler(self) -> None:
        """No further request came: close, but not while the last answer is being read."""
        if self.flow.write_paused:
            self._is_kept = True
        else:
            super().timeout_keep_alive_handler()

    def make_way(self) -> None:
        """Close the connection at once, even if the client doesn't read why."""
        if self in self._shared.unread:
            self.transport.abort()
        else:
            self.give_up()
            self.transport.close()

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

    def _forget_account(self) -> None:
        if self.account is not None:
            _count_down(self._shared.of_account, self.account)
            self.account = None

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
        self._unread_bytes = self._unread()
        self._write_timer = self.loop.call_later(self._limits.silence_s, self._check_writing)

    def _stop_watching(self) -> None:
        self._shared.unread.pop(self, None)
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _check_writing(self) -> None:
        """While writing is paused nothing is added to what the client has yet to read."""
        least = max(1.0, self._limits.least_bytes_per_s * self._limits.silence_s)
        if self._unread_bytes - self._unread() < least:
            log.info("connection_not_read", unread_bytes=self._unread())
            self.transport.abort()
        else:
            self._watch_writing()

    def _unread(self) -> int:
        """The bytes that the client's machine hasn't confirmed: ours and the kernel's, which says
        that there is room again only once a third of its own have left."""
        sent = self.transport.get_extra_info("socket")
        (of_kernel,) = struct.unpack("i", fcntl.ioctl(sent.fileno(), termios.TIOCOUTQ, bytes(4)))
        return self.transport.get_write_buffer_size() + int(of_kernel)

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


def _count_down(counter: Counter[Any], of: Hashable) -> None:
    counter[of] -= 1
    if not counter[of]:
        del counter[of]


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
    HTTPStatus.TOO_MANY_REQUESTS: (
        "too_many_connections",
        "Your network address has too many connections. Please close some of them.",
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
