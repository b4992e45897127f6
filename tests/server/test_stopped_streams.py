"""What becomes of streams of events when the server stops."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from starlette.types import Receive, Scope, Send

from kernelbot.api.departures import Departures, EventStream, PostedEventStream, Unfinished
from tests.server.test_connections import PATIENT, WHOLE, Connection, serving

POSTED = b"POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"


async def _read_until(connection: Connection, end: bytes) -> bytes:
    async with asyncio.timeout(60):
        return await connection._reader.readuntil(end)


@pytest.mark.parametrize("stops", ["while it is quiet", "before it begins"])
async def test_a_stream_ends_in_order_when_the_server_stops(stops: str) -> None:
    """And is said to be whole: what is broken off is in the log as an error of ours."""
    is_asked, may_begin = asyncio.Event(), asyncio.Event()
    ended = list[str]()

    async def frames() -> AsyncIterator[str]:
        try:
            yield "data: 1\n\n"
            await asyncio.Event().wait()
        finally:
            ended.append("frames")

    async def follow(scope: Scope, receive: Receive, send: Send) -> None:
        is_asked.set()
        await may_begin.wait()
        await Departures(EventStream(frames()))(scope, receive, send)
        ended.append("request")

    async with serving(PATIENT, follow) as server:
        connection = await server.connect()
        await connection.send(WHOLE)
        await is_asked.wait()
        if stops == "while it is quiet":
            may_begin.set()
            await _read_until(connection, b"data: 1\n\n")
        for one in server.connections():
            one.shutdown()
        may_begin.set()
        await _read_until(connection, b"\r\n0\r\n\r\n")
        assert await connection.is_closed()
    assert (["frames", "request"] if stops == "while it is quiet" else ["request"]) == ended


@pytest.mark.parametrize("ends", ["the server stops", "before it begins", "the client goes", "all"])
async def test_who_has_sent_something_is_told_that_the_server_stops(ends: str) -> None:
    """Such a client doesn't connect again."""
    is_asked, may_begin, is_over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def frames() -> AsyncIterator[str]:
        yield "data: 1\n\n"
        if ends != "all":
            await asyncio.Event().wait()

    async def submit(scope: Scope, receive: Receive, send: Send) -> None:
        is_asked.set()
        await may_begin.wait()
        stream = PostedEventStream(frames(), farewell="data: later\n\n", headers={"x-one": "1"})
        await stream(scope, receive, send)
        is_over.set()

    async with serving(PATIENT, submit) as server:
        connection = await server.connect()
        await connection.send(POSTED)
        await is_asked.wait()
        if ends == "before it begins":
            for one in server.connections():
                one.shutdown()
        may_begin.set()
        if ends != "before it begins":
            await _read_until(connection, b"data: 1\n\n")
        if ends == "the server stops":
            for one in server.connections():
                one.shutdown()
        if ends == "the client goes":
            connection._writer.close()
        else:
            rest = await _read_until(connection, b"\r\n0\r\n\r\n")
            assert (ends != "all") == (b"data: later\n\n" in rest)
        async with asyncio.timeout(60):
            await is_over.wait()


async def test_what_is_not_done_in_time_is_a_503() -> None:
    """The server gives it a second here, and cancels it then."""
    begun = asyncio.Event()

    async def endless(_scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with serving(PATIENT, Unfinished(endless)) as server:
        connection = await server.connect()
        await connection.send(POSTED)
        await begun.wait()
        server.inner.should_exit = True
        status, body = await connection.answer()
    assert (503, "unavailable") == (status, json.loads(body)["code"])
