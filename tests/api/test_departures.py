"""What becomes of a request whose client has gone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import psycopg
import structlog.testing
from prometheus_client import CollectorRegistry, Histogram
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kernelbot.api.departures import PRESENCE, Departures, Presence
from kernelbot.api.middleware import AccessLog
from kernelbot.store.database import Database

SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"

Around = Callable[[ASGIApp], ASGIApp]


class Client:
    """Sends a request to an application, and leaves when it likes."""

    def __init__(self, app: ASGIApp, method: str = "GET", around: Around = Departures) -> None:
        """`around`: what the application is called through."""
        self._gone = asyncio.Event()
        self._begun = False
        self.sent: list[Message] = []
        scope = {"type": "http", "method": method, "path": "/", "headers": [], "query_string": b""}
        self.request = asyncio.ensure_future(around(app)(scope, self._receive, self._send))

    def leave(self) -> None:
        self._gone.set()

    async def _receive(self) -> Message:
        if not self._begun:
            self._begun = True
            return {"type": "http.request", "body": b"{}", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.leave()  # as servers say it of a request that was answered


def answering(handle: Callable[[Request], Awaitable[PlainTextResponse]]) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await handle(request)
        await response(scope, receive, send)

    return app


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 (another process decides)
            await asyncio.sleep(0.01)


async def test_a_statement_ends_with_the_client_who_waits_for_it(database_url: str) -> None:
    async with Database(database_url, max_size=1) as database:

        async def handle(_: Request) -> PlainTextResponse:
            async with database.read() as session:
                await session.one("SELECT pg_sleep(600)")
            raise AssertionError

        with psycopg.connect(database_url, autocommit=True) as other:
            client = Client(answering(handle))
            await until(lambda: other.execute(SLEEPING).fetchone() is not None)
            client.leave()
            await client.request
            await until(lambda: other.execute(SLEEPING).fetchone() is None)
        assert [] == client.sent
        async with database.read() as session:
            assert {"n": 7} == await session.one("SELECT 7 AS n")


async def test_what_changes_something_is_done_to_its_end() -> None:
    left, done = asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> PlainTextResponse:
        await request.body()
        await left.wait()
        await asyncio.sleep(0)
        done.set()
        return PlainTextResponse("done")

    client = Client(answering(handle), "POST")
    client.leave()
    left.set()
    await client.request
    assert done.is_set()


async def test_what_follows_an_answer_is_done_as_well() -> None:
    cleared = asyncio.Event()

    async def clear() -> None:
        await asyncio.sleep(0.01)
        cleared.set()

    async def handle(request: Request) -> PlainTextResponse:
        assert b"" == await request.body()
        return PlainTextResponse("a file", background=BackgroundTask(clear))

    client = Client(answering(handle))
    await client.request
    assert (b"a file", True) == (client.sent[1]["body"], cleared.is_set())


async def test_a_stream_ends_with_its_reader() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                begun.set()
                yield b"first"
                await asyncio.sleep(600)
            finally:
                ended.set()

        await StreamingResponse(pieces())(scope, receive, send)

    client = Client(app)
    await begun.wait()
    client.leave()
    await client.request
    assert ended.is_set()


class Lasting:
    """A handler that ends only with its request."""

    def __init__(self) -> None:
        self.begun, self.stopped = asyncio.Event(), asyncio.Event()

    async def __call__(self, _: Request) -> PlainTextResponse:
        self.begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            self.stopped.set()
        raise AssertionError


class Told(Client):
    """A client whose server tells that it has gone, and is never asked."""

    def __init__(self, app: ASGIApp) -> None:
        self.presence = Presence()
        super().__init__(app, around=self._telling)

    def leave(self) -> None:
        self.presence.end()

    def _telling(self, app: ASGIApp) -> ASGIApp:
        async def around(scope: Scope, _: Receive, send: Send) -> None:
            state = {"state": {PRESENCE: self.presence}}
            await Departures(app)({**scope, **state}, _never, send)

        return around


async def _never() -> Message:
    raise AssertionError("nobody has to ask whether the client is there")


async def test_a_request_ends_with_a_client_of_whom_the_server_tells() -> None:
    lasting = Lasting()
    client = Told(answering(lasting))
    await lasting.begun.wait()
    client.leave()
    await client.request
    assert ([], True) == (client.sent, lasting.stopped.is_set())


async def test_a_request_of_a_client_who_had_gone_before_it_began_ends() -> None:
    async def handle(_: Request) -> PlainTextResponse:
        await asyncio.sleep(600)
        raise AssertionError

    client = Told(answering(handle))
    client.leave()
    await client.request
    assert [] == client.sent


async def test_nobody_waits_for_the_client_of_a_request_that_was_answered() -> None:
    async def handle(request: Request) -> PlainTextResponse:
        return PlainTextResponse((await request.body()).decode())

    client = Told(answering(handle))
    await client.request
    assert (b"", set()) == (client.sent[1]["body"], client.presence.waiting)


async def test_an_error_is_raised_as_it_is() -> None:
    async def handle(_: Request) -> PlainTextResponse:
        raise ZeroDivisionError

    client = Client(answering(handle))
    assert isinstance(
        (await asyncio.gather(client.request, return_exceptions=True))[0], ZeroDivisionError
    )


async def test_who_is_stopped_with_the_server_ends_at_once() -> None:
    lasting = Lasting()
    client = Client(answering(lasting))
    await lasting.begun.wait()
    client.request.cancel()
    await asyncio.gather(client.request, return_exceptions=True)
    assert (True, True) == (client.request.cancelled(), lasting.stopped.is_set())


def logged(app: ASGIApp) -> ASGIApp:
    latency = Histogram(
        "seconds", "Of requests.", ("method", "route", "status"), registry=CollectorRegistry()
    )
    return AccessLog(Departures(app), latency)


async def test_a_client_who_left_is_no_error_of_ours_in_the_log() -> None:
    begun = asyncio.Event()

    async def handle(_: Request) -> PlainTextResponse:
        begun.set()
        await asyncio.sleep(600)
        raise AssertionError

    with structlog.testing.capture_logs() as lines:
        client = Client(answering(handle), around=logged)
        await begun.wait()
        client.leave()
        await client.request
    assert [499] == [line["status"] for line in lines]


async def test_an_error_is_one_in_the_log() -> None:
    async def handle(_: Request) -> PlainTextResponse:
        raise ZeroDivisionError

    with structlog.testing.capture_logs() as lines:
        await asyncio.gather(
            Client(answering(handle), around=logged).request, return_exceptions=True
        )
    assert [500] == [line["status"] for line in lines]
