"""What happens around every request: tidy paths, size limits, caches, a log line, a figure."""

import asyncio
import contextlib
import re
import time
import uuid
from collections.abc import Callable

import structlog
from prometheus_client import Histogram
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kernelbot.api.departures import LEFT
from kernelbot.api.errors import error_response
from kernelbot.api.settings import MIB

log = structlog.get_logger(__name__)

_CLIENT_LEFT = 499
"""The status that nginx writes for a request whose client left before the answer."""

DRAINED_BYTES = 64 * MIB
DRAINED_S = 10.0
"""How much of a body that is too large is passed over, and for how long, before the answer."""

_SECRET = re.compile(r"(/invites/(?!join$)|^/result/)[^/]+", re.IGNORECASE)
"""A secret in a path, also in a path that no route has, or not with this method."""
_STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
_NO_STORE = (b"cache-control", b"no-store")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class TidyPath:
    """Reads doubled slashes as one: clients join their base URL and the path carelessly."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "//" in scope["path"]:
            raw = re.sub(rb"/{2,}", b"/", scope.get("raw_path") or b"")
            scope = {**scope, "path": re.sub(r"/{2,}", "/", scope["path"]), "raw_path": raw}
        await self._app(scope, receive, send)


class Heads:
    """Answers HEAD as GET without the body: whoever asks if a page is there learns it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as GET, and its answer without the body."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


class StrictTransport:
    """Tells browsers to come by https from now on, for a year."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; every answer has the header."""

        async def with_header(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", []), _STRICT_TRANSPORT]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, with_header)


class NoStore:
    """Lets nobody keep an answer that doesn't say for how long. Most are for whoever asks, and who
    that is may be in a header that no cache on the way knows: it would give it to others, too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; every answer has the header."""

        async def with_header(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                if all(name.lower() != _NO_STORE[0] for name, _ in headers):
                    message = {**message, "headers": [*headers, _NO_STORE]}
            await send(message)

        await self._app(scope, receive, with_header)


Refusal = Callable[[Scope, str], Response]
"""The answer to a body that is too large, with a sentence that says how large it may be."""


def body_too_large(_scope: Scope, detail: str) -> Response:
    """An `ErrorBody`."""
    return error_response(413, "body_too_large", detail)


class BodyLimit:
    """Refuses a body over `limit_of(scope)` bytes with 413 before it is held in memory, whether
    its length was announced or not."""

    def __init__(
        self, app: ASGIApp, limit_of: Callable[[Scope], int], refusal: Refusal = body_too_large
    ) -> None:
        self._app = app
        self._limit_of = limit_of
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a counted body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope)
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced.isdigit() and int(announced) > limit:
            await self._refuse(limit, scope, receive, send)
            return
        guard = _BodyGuard(limit, receive, send)
        try:
            await self._app(scope, guard.receive, guard.send)
        except ClientDisconnect:
            if not guard.exceeded:
                raise
        if guard.exceeded and not guard.started:
            await self._refuse(limit, scope, receive, send)

    async def _refuse(self, limit: int, scope: Scope, receive: Receive, send: Send) -> None:
        size = f"{limit / MIB:g} MiB" if limit >= MIB else f"{limit} bytes"
        detail = f"The request's body is larger than {size}, which is the most that is taken here."
        await _drain(scope, receive)
        response = self._refusal(scope, detail)
        # What is left of the body is never read, so the connection can't be used again.
        response.headers["Connection"] = "close"
        await response(scope, receive, send)


class _BodyGuard:
    def __init__(self, limit: int, receive: Receive, send: Send) -> None:
        self._left = limit
        self._receive = receive
        self._send = send
        self.exceeded = False
        self.started = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self.exceeded = self.exceeded or self._left < 0
        # The application sees a body that is too large as a client that disconnected.
        return {"type": "http.disconnect"} if self.exceeded else message

    async def send(self, message: Message) -> None:
        if self.exceeded and not self.started:
            return  # the application's answer to half a body; the refusal is sent instead
        self.started = True
        await self._send(message)


async def _drain(scope: Scope, receive: Receive) -> None:
    """Read the rest of a body and drop it: a client that is still sending when the connection
    closes sees it reset, and never reads why. Stops after a limit of bytes and time."""
    if b"expect" in dict(scope["headers"]):
        return  # this one asked before sending
    left = DRAINED_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAINED_S):
            more = True
            while more and left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                more = message.get("more_body", False)


class AccessLog:
    """One line and one measurement for every request; its id goes into every line logged on the
    way and back to the client as `X-Request-ID`."""

    def __init__(self, app: ASGIApp, latency: Histogram) -> None:
        self._app = app
        self._latency = latency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, then log how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        status: int | None = None
        started_s = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
                message = {**message, "headers": headers}
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, noting)
            finally:
                status = status or (_CLIENT_LEFT if LEFT in scope else 500)
                self._note(scope, status, time.perf_counter() - started_s)

    def _note(self, scope: Scope, status: int, duration_s: float) -> None:
        # The route's name, not the path: metrics must not grow with what people ask for.
        route = getattr(scope.get("route"), "name", "unmatched")
        self._latency.labels(scope["method"], route, str(status)).observe(duration_s)
        log.info(
            "request",
            method=scope["method"],
            path=_SECRET.sub(r"\1...", scope["path"]),
            status=status,
            duration_ms=round(duration_s * 1000, 2),
        )


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
