"""Limits of HTTP connections, over sockets on loopback."""

import asyncio
import contextlib
import json
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from kernelbot.main.connections import ConnectionLimits, Connections, connection_limits

HEAD = b"GET /x HTTP/1.1\r\nHost: x\r\n"
WHOLE = HEAD + b"\r\n"
UPLOAD = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
BRIEF = ConnectionLimits(head_bytes=4096, head_s=0.3, silence_s=0.3)
PATIENT = ConnectionLimits(head_bytes=4096, head_s=60, silence_s=60, max_connections=8)
MIB = 1 << 20


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the length of the body; with very much for /much."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"x" * (32 * MIB) if scope["path"] == "/much" else str(length).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Connection:
    """A client's end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> tuple[int, str]:
        """Status and body."""
        async with asyncio.timeout(20):
            head = await self._reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next(int(x.split(b":")[1]) for x in lines if x.startswith(b"content-length"))
            return int(head.split()[1]), (await self._reader.readexactly(length)).decode()

    async def first(self, count: int) -> bytes:
        return await self._reader.readexactly(count)

    async def length_of_the_rest(self) -> int:
        await self._reader.readuntil(b"\r\n\r\n")
        return len(await self._reader.readexactly(32 * MIB))

    async def is_closed(self) -> bool:
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionResetError):
                return await self._reader.read(1) == b""
            return True

    async def refusal(self) -> tuple[int, str]:
        """Status and code of an `ErrorBody`, after which nothing comes any more."""
        status, body = await self.answer()
        assert await self.is_closed()
        return status, json.loads(body)["code"]


class Server:
    """Uvicorn with our protocol, on loopback."""

    def __init__(self, port: int, inner: uvicorn.Server) -> None:
        self._port = port
        self.inner = inner
        self.clients: list[asyncio.StreamWriter] = []

    async def connect(self) -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.clients.append(writer)
        return Connection(reader, writer)

    async def until(self, condition: Callable[[int], bool]) -> None:
        """Of the number of connections."""
        async with asyncio.timeout(20):
            while not condition(len(self.inner.server_state.connections)):  # noqa: ASYNC110  # uvicorn tells nobody
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def serving(limits: ConnectionLimits) -> AsyncIterator[Server]:
    made: Any = Connections(limits)
    config = uvicorn.Config(
        echo, http=made, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1
    )
    inner = uvicorn.Server(config)
    task = asyncio.create_task(inner._serve())
    while not inner.started:  # noqa: ASYNC110  # uvicorn tells nobody
        await asyncio.sleep(0.01)
    port = inner.servers[0].sockets[0].getsockname()[1]
    server = Server(port, inner)
    try:
        yield server
    finally:
        for client in server.clients:
            client.transport.abort()
        inner.should_exit = True
        await task


async def test_requests_are_answered_one_after_the_other() -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        for _ in range(2):
            await client.send(UPLOAD + b"0123456789")
            assert (200, "10") == await client.answer()


async def test_requests_that_come_together_are_answered_in_turn() -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(UPLOAD + b"0123456789" + WHOLE + WHOLE)
        assert [(200, "10"), (200, "0"), (200, "0")] == [await client.answer() for _ in range(3)]


async def test_a_large_body_in_large_pieces_is_taken() -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        head = f"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: {8 * MIB}\r\n\r\n"
        await client.send(head.encode() + b"x" * (8 * MIB))
        assert (200, str(8 * MIB)) == await client.answer()


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"A: " + b"x" * 5000 + b"\r\n\r\n",
        HEAD + b"A: " + b"x" * (3 * MIB),
        HEAD + b"A: x\r\n" * 1000 + b"\r\n",
        b"GET /" + b"x" * (3 * MIB),
        HEAD + b"x" * (3 * MIB),
        b"\r\n" * 30_000,
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + b"x" * (3 * MIB),
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: x\r\n" * 9000,
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * (3 * MIB),
    ],
)
async def test_a_head_without_end_is_refused(sent: bytes) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        with contextlib.suppress(ConnectionError):
            await client.send(sent)
        assert (431, "headers_too_large") == await client.refusal()


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"CONNECT x:443 HTTP/1.1\r\n\r\n",
        HEAD + b"Content-Length: x\r\n\r\n",
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_what_is_no_request_gets_our_error_body(sent: bytes) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(sent)
        assert (400, "bad_request") == await client.refusal()


async def test_nonsense_after_a_request_does_not_spoil_its_answer() -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(WHOLE + b"\x00nonsense\r\n\r\n")
        assert (200, "0") == await client.answer()
        assert await client.is_closed()


async def test_a_connection_on_which_nothing_comes_is_closed() -> None:
    async with serving(BRIEF) as server:
        assert await (await server.connect()).is_closed()


async def test_a_head_that_trickles_is_given_up() -> None:
    async with serving(BRIEF) as server:
        client = await server.connect()
        await client.send(HEAD)

        async def trickle() -> None:
            with contextlib.suppress(ConnectionError):
                while True:
                    await client.send(b"A: x\r\n")
                    await asyncio.sleep(0.05)

        task = asyncio.create_task(trickle())
        assert (408, "too_slow") == await client.refusal()
        task.cancel()


async def test_a_body_that_does_not_come_is_given_up() -> None:
    async with serving(BRIEF) as server:
        client = await server.connect()
        await client.send(UPLOAD + b"01234")
        assert (408, "too_slow") == await client.refusal()


async def test_a_slow_body_that_comes_on_is_taken() -> None:
    limits = ConnectionLimits(head_s=0.3, silence_s=5)
    async with serving(limits) as server:
        client = await server.connect()
        await client.send(UPLOAD)
        for _ in range(10):
            await asyncio.sleep(0.05)
            await client.send(b"x")
        assert (200, "10") == await client.answer()


async def test_an_answer_that_nobody_takes_is_given_up() -> None:
    async with serving(BRIEF) as server:
        client = await server.connect()
        await client.send(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
        await server.until(lambda count: count == 1)
        await server.until(lambda count: count == 0)


async def test_half_open_connections_keep_nobody_out() -> None:
    async with serving(PATIENT) as server:
        silent = [await server.connect() for _ in range(4 * PATIENT.max_connections)]
        for client in silent:
            await client.send(b"GET")
        client = await server.connect()
        await client.send(WHOLE)
        assert (200, "0") == await client.answer()
        assert PATIENT.max_connections >= len(server.inner.server_state.connections)


async def test_stalled_bodies_keep_nobody_out() -> None:
    async with serving(PATIENT) as server:
        for _ in range(PATIENT.max_connections):
            await (await server.connect()).send(UPLOAD)
        client = await server.connect()
        await client.send(WHOLE)
        assert (200, "0") == await client.answer()


async def test_who_is_being_answered_is_not_closed_for_others() -> None:
    async with serving(PATIENT) as server:
        busy = [await server.connect() for _ in range(PATIENT.max_connections)]
        for client in busy:
            await client.send(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"HTTP/1.1 200" == await client.first(12)
        assert (503, "too_many_connections") == await (await server.connect()).refusal()
        for client in busy:
            assert 32 * MIB == await client.length_of_the_rest()


RAISED = """
import resource
from kernelbot.main.connections import raise_open_files
raise_open_files()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    begin = f"ulimit -Sn 300; ulimit -Hn 700; exec {sys.executable} -c '{RAISED}'"
    done = subprocess.run(["/bin/sh", "-c", begin], capture_output=True, text=True, check=True)
    assert "700\n" == done.stdout


@pytest.mark.parametrize(("files", "expected"), [(300, 150), (1024, 768), (65_536, 4096)])
def test_so_many_connections_as_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, files: int, expected: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert expected == connection_limits().max_connections
