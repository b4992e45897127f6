"""What becomes of streams of events when the server stops."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.types import Receive, Scope, Send

from kernelbot.api.departures import Departures, EventStream
from tests.server.test_connections import PATIENT, WHOLE, Connection, serving


async def _read_until(connection: Connection, end: bytes) -> None:
    async with asyncio.timeout(60):
        await connection._reader.readuntil(end)


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
