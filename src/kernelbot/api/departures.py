"""Reading ends with its reader: nobody computes an answer, or waits for a lock, for a client that
is gone."""

import asyncio

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
        body_read, gone, sent = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def nothing_then_gone() -> Message:
            if not body_read.is_set():
                body_read.set()
                return _NO_BODY
            await gone.wait()
            return {"type": "http.disconnect"}

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                sent.set()  # from here on the server says of everybody that they are gone
            await send(message)

        answering = asyncio.ensure_future(self._app(scope, nothing_then_gone, noting))
        leaving = asyncio.ensure_future(departure(receive))
        leaving.add_done_callback(lambda _: gone.set())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and not sent.is_set():
                scope[LEFT] = True
                answering.cancel()
            await _ended(answering, by_us=leaving.done())
        finally:
            leaving.cancel()
            if not answering.done():  # this request itself was cancelled
                answering.cancel()
                await asyncio.wait({answering})


async def departure(receive: Receive) -> None:
    """Until the client has gone, or the answer was sent. `receive`: of a request whose body nobody
    else reads any more."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(answering: "asyncio.Future[None]", *, by_us: bool) -> None:
    try:
        await answering
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not by_us or (task is not None and task.cancelling()):
            raise
