"""Reading ends with its reader: nobody computes an answer, or waits for a lock, for a client that
is gone."""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from contextlib import contextmanager

from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kernelbot.api.errors import error_response

LEFT = "kernelbot.client_left"
"""Whether a request's client left before an answer began, in its scope."""
PRESENCE = "kernelbot.presence"
"""In a request's state, the `Presence` by which our server tells that its client has gone. Without
it a task waits for that, for each request."""
_STOPPED = (
    "The server has stopped before this was done. Look at what is there once it is back, and send"
    " it again if need be."
)
_WITH_BODY = (b"content-length", b"transfer-encoding")
_NO_BODY: Message = {"type": "http.request", "body": b"", "more_body": False}


class Presence:
    """Whether the client of a connection is there, and whether the server stays. `waiting`: what is
    called once the client has gone; `streaming`: once the server stops."""

    def __init__(self) -> None:
        self.is_gone = self.server_stops = False
        self.waiting = set[Callable[[], None]]()
        self.streaming = set[Callable[[], None]]()

    def end(self) -> None:
        """The client has gone."""
        self.is_gone = True
        for call in tuple(self.waiting):
            call()

    def stop(self) -> None:
        """The server stops."""
        self.server_stops = True
        for call in tuple(self.streaming):
            call()


class Departures:
    """Cancels a GET when its client has gone, and with it the statement that it waits for. Whatever
    changes something is done to its end: a client that goes away doesn't take back what it sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on. A body of a GET means nothing, and isn't read."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        request = _Request(scope, receive, send)
        try:
            await self._app(scope, request.receive, request.send)
        except asyncio.CancelledError:
            if not request.ends_here():
                raise
        else:
            request.ends_here()  # also if it has answered all the same
        finally:
            request.end()


class Unfinished:
    """Answers 503 to what isn't done when the server can't wait for it any longer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; an answer that has begun is broken off."""
        has_begun = False

        async def noting(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if has_begun or not _presence_of(scope).server_stops or task is None:
                raise
            task.uncancel()
            await error_response(503, "unavailable", _STOPPED)(scope, receive, send)


class EventStream(StreamingResponse):
    """Server-sent events as the answer to a GET, which `Departures` ends when its client has gone:
    no second task waits for that, as that of any other stream does. If the server stops it ends
    there, as if it had been read to its end: else each would be waited for, and then broken off."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, or what there is until the server stops."""
        del receive
        await _send_until_the_stop(self, _presence_of(scope), send)


class PostedEventStream(StreamingResponse):
    """The same as the answer to what somebody sent, for clients that don't connect again: so
    `farewell` is the last that they are told if the server stops."""

    media_type = "text/event-stream"

    def __init__(
        self, content: AsyncIterable[str], *, farewell: str, headers: Mapping[str, str]
    ) -> None:
        super().__init__(content, headers=headers)
        self._farewell = farewell
        self._presence = Presence()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, or what there is until the client has gone or the server stops."""
        self._presence = _presence_of(scope)
        await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        await _send_until_the_stop(self, self._presence, send, self._farewell)


async def _send_until_the_stop(
    stream: StreamingResponse, presence: Presence, send: Send, farewell: str = ""
) -> None:
    """Send all that the stream has, and `farewell` if the server stops before its end."""

    async def send_text(chunk: str | bytes | memoryview) -> None:
        body = chunk.encode(stream.charset) if isinstance(chunk, str) else chunk
        await send({"type": "http.response.body", "body": body, "more_body": True})

    head = {"status": stream.status_code, "headers": stream.raw_headers}
    await send({"type": "http.response.start", **head})
    is_whole = False
    if not presence.server_stops:
        with _until_the_server_stops(presence):
            async for chunk in stream.body_iterator:
                await send_text(chunk)
            is_whole = True
    if farewell and not is_whole:
        await send_text(farewell)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _presence_of(scope: Scope) -> Presence:
    """Of a server that tells nothing: somebody who is always there."""
    found: Presence = scope.get("state", {}).get(PRESENCE) or Presence()
    return found


@contextmanager
def _until_the_server_stops(presence: Presence) -> Iterator[None]:
    """The block's task is cancelled then, and goes on behind the block."""
    task = asyncio.current_task()
    assert task is not None, "what is async runs in a task"
    before, stopped = task.cancelling(), False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    presence.streaming.add(stop)
    try:
        yield
    except asyncio.CancelledError:
        if not stopped or task.uncancel() > before:
            raise
    finally:
        presence.streaming.discard(stop)


class _Request:
    """A GET that is answered in the task that makes it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._send = send
        task = asyncio.current_task()
        assert task is not None, "what is async runs in a task"
        self._task = task
        self._before = task.cancelling()
        self._body_read = self._over = self._cancelled = False
        self._gone = asyncio.Event()
        self._presence: Presence | None = scope.get("state", {}).get(PRESENCE)
        self._leaving: asyncio.Future[None] | None = None
        """Ends when the client has gone; None: the server tells it."""
        # A body is read all the same: it is counted as it is received, and a large one is refused.
        if self._presence is None or _has_body(scope):
            self._leaving = asyncio.ensure_future(departure(receive))
            self._leaving.add_done_callback(self._departed)
            return
        self._presence.waiting.add(self._left)
        if self._presence.is_gone:
            asyncio.get_running_loop().call_soon(self._left)

    def end(self) -> None:
        """The answer is made: from now on it is all the same whether the client is there."""
        self._over = True
        if self._presence is not None:
            self._presence.waiting.discard(self._left)
        if self._leaving is not None:
            self._leaving.cancel()

    async def receive(self) -> Message:
        """No body, and then that the client has gone."""
        if not self._body_read:
            self._body_read = True
            return _NO_BODY
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send what the answer consists of."""
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._over = True  # from here on the server says of everybody that they are gone
        await self._send(message)

    def _departed(self, leaving: "asyncio.Future[None]") -> None:
        if not leaving.cancelled():
            self._left()

    def _left(self) -> None:
        self._gone.set()
        if not self._over and not self._task.done():
            self._scope[LEFT] = self._cancelled = True
            self._task.cancel()

    def ends_here(self) -> bool:
        """Whether it was cancelled because the client has gone, and for no other reason."""
        return self._cancelled and self._task.uncancel() <= self._before


def _has_body(scope: Scope) -> bool:
    return any(name in _WITH_BODY for name, _ in scope["headers"])


async def departure(receive: Receive) -> None:
    """Until the client has gone, or the answer was sent. `receive`: of a request whose body nobody
    else reads any more."""
    while (await receive())["type"] != "http.disconnect":
        pass
