"""Reading ends with its reader: nobody computes an answer, or waits for a lock, for a client that
is gone."""

import asyncio

from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEFT = "kernelbot.client_left"
"""Whether a request's client left before an answer began, in its scope."""
_NO_BODY: Message = {"type": "http.request", "body": b"", "more_body": False}


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
            request.leaving.cancel()


class EventStream(StreamingResponse):
    """Server-sent events as the answer to a GET, which `Departures` ends when its client has gone:
    no second task waits for that, as that of any other stream does."""

    media_type = "text/event-stream"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it."""
        del scope, receive
        await self.stream_response(send)


class _Request:
    """A GET that is answered in the task that makes it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._send = send
        task = asyncio.current_task()
        assert task is not None, "what is async runs in a task"
        self._task = task
        self._before = task.cancelling()
        self._body_read = self._sent = self._cancelled = False
        self._gone = asyncio.Event()
        self.leaving = asyncio.ensure_future(departure(receive))
        """Ends when the client has gone. It is to be cancelled when the answer is made."""
        self.leaving.add_done_callback(self._left)

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
            self._sent = True  # from here on the server says of everybody that they are gone
        await self._send(message)

    def _left(self, leaving: "asyncio.Future[None]") -> None:
        if leaving.cancelled():
            return
        self._gone.set()
        if not self._sent and not self._task.done():
            self._scope[LEFT] = self._cancelled = True
            self._task.cancel()

    def ends_here(self) -> bool:
        """Whether it was cancelled because the client has gone, and for no other reason."""
        return self._cancelled and self._task.uncancel() <= self._before


async def departure(receive: Receive) -> None:
    """Until the client has gone, or the answer was sent. `receive`: of a request whose body nobody
    else reads any more."""
    while (await receive())["type"] != "http.disconnect":
        pass
