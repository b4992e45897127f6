"""Limits of HTTP connections, over sockets on loopback."""

import asyncio
import contextlib
import json
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from kernelbot.api.departures import PRESENCE
from kernelbot.api.dependencies import BELONGS_TO
from kernelbot.server.connection_limits import ConnectionLimits, connection_limits, counted_address
from kernelbot.server.connections import BoundedHttp, Connections

HEAD = b"GET /x HTTP/1.1\r\nHost: x\r\n"
WHOLE = HEAD + b"\r\n"
UPLOAD = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
BRIEF = ConnectionLimits(head_bytes=4096, head_s=0.3, silence_s=0.3)
PATIENT = ConnectionLimits(head_bytes=4096, head_s=60, silence_s=60, unread_s=60, max_connections=8)
MUCH = b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n"
MORE = b"GET /more HTTP/1.1\r\nHost: x\r\n\r\n"
MIB = 1 << 20
NOTHING = [(b"content-length", b"0")]
LENGTHS = {"/much": 32 * MIB, "/more": 48 * MIB}


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the length of the body; with very much for the paths of `LENGTHS`. The query is
    the number of an account, which may have too many connections."""
    length, more = 0, True
    account = int(scope["query_string"] or 0)
    if account and not scope["state"][BELONGS_TO](account):
        await send({"type": "http.response.start", "status": 429, "headers": NOTHING})
        await send({"type": "http.response.body"})
        return
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    much = LENGTHS.get(scope["path"])
    body = b"x" * much if much else str(length).encode()
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
        async with asyncio.timeout(60):
            head = await self._reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            length = next(int(x.split(b":")[1]) for x in lines if x.startswith(b"content-length"))
            return int(head.split()[1]), (await self._reader.readexactly(length)).decode()

    async def first(self, count: int) -> bytes:
        return await self._reader.readexactly(count)

    async def length_of_the_rest(self, expected: int = 32 * MIB) -> int:
        await self._reader.readuntil(b"\r\n\r\n")
        return len(await self._reader.readexactly(expected))

    async def is_closed(self) -> bool:
        async with asyncio.timeout(60):
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

    async def connect(self, from_address: str = "127.0.0.1") -> Connection:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(from_address, 0)
        )
        self.clients.append(writer)
        return Connection(reader, writer)

    def connections(self) -> list[BoundedHttp]:
        """Our ends, in no order."""
        return [one for one in self.inner.server_state.connections if isinstance(one, BoundedHttp)]

    def waits_anew(self) -> bool:
        """Whether the only connection's last piece of a body has just come."""
        for one in self.connections():
            if one._is_busy() and one._timer is not None:
                return one._timer.when() - one.loop.time() > 50
        return False

    async def until_sending(self, unread_bytes: int, count: int = 1) -> None:
        """Until there is so much that so many clients haven't read."""
        async with asyncio.timeout(60):
            while count > self._count(unread_bytes):  # noqa: ASYNC110  # uvicorn tells nobody
                await asyncio.sleep(0.01)

    def _count(self, unread_bytes: int) -> int:
        return sum(one._unread() > unread_bytes for one in self.connections())

    async def until(self, condition: Callable[[int], bool]) -> None:
        """Of the number of connections."""
        async with asyncio.timeout(60):
            while not condition(len(self.inner.server_state.connections)):  # noqa: ASYNC110  # uvicorn tells nobody
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def serving(limits: ConnectionLimits, app: ASGIApp = echo) -> AsyncIterator[Server]:
    made: Any = Connections(limits)
    config = uvicorn.Config(
        app, http=made, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1
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


class Clock:
    """The event loop's, which can be put forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        real = loop.time
        self._ahead_s = 0.0
        monkeypatch.setattr(loop, "time", lambda: real() + self._ahead_s)

    async def forward(self, by_s: float) -> None:
        """Return after everything was called that is due by then."""
        self._ahead_s += by_s
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def test_a_request_is_told_that_its_client_has_gone() -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(UPLOAD)
        await server.until(lambda count: count == 1 and server.connections()[0]._is_busy())
        presence = server.connections()[0].scope["state"][PRESENCE]
        before = presence.is_gone
        server.clients[0].transport.abort()
        await server.until(lambda count: count == 0)
        assert (False, True) == (before, presence.is_gone)


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


async def test_a_slow_body_that_comes_on_is_taken(clock: Clock) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(UPLOAD)
        for _ in range(10):
            await server.until(lambda _: server.waits_anew())
            await clock.forward(40)
            await client.send(b"x")
        assert (200, "10") == await client.answer()


@pytest.mark.exhaustive  # each run has test_a_head_without_end_is_refused
async def test_an_answer_that_nobody_takes_is_given_up() -> None:
    async with serving(BRIEF) as server:
        client = await server.connect()
        await client.send(MUCH)
        await server.until(lambda count: count == 1)
        await server.until(lambda count: count == 0)


@pytest.mark.exhaustive  # each run has test_a_head_without_end_is_refused
async def test_how_long_an_answer_is_read_does_not_count_for_the_next(clock: Clock) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(MUCH + MORE)
        await server.until_sending(0)
        await clock.forward(59)
        assert 32 * MIB == await client.length_of_the_rest()
        await server.until_sending(32 * MIB)
        await clock.forward(2)
        assert 48 * MIB == await client.length_of_the_rest(48 * MIB)


async def test_an_answer_that_is_read_slowly_is_not_given_up(clock: Clock) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(MUCH)
        await server.until_sending(0)
        (ours,) = server.connections()
        for _ in range(3):
            left = ours._unread() - 65 * 1024
            while ours._unread() > left:
                await client.first(4096)
                await asyncio.sleep(0)
            await clock.forward(61)
        assert {ours} == server.inner.server_state.connections


async def test_an_answer_that_is_read_far_too_slowly_is_given_up(clock: Clock) -> None:
    async with serving(replace(PATIENT, least_bytes_per_s=MIB)) as server:
        client = await server.connect()
        await client.send(MUCH)
        await server.until_sending(0)
        (ours,) = server.connections()
        left = ours._unread() - MIB
        while ours._unread() > left:
            await client.first(4096)
            await asyncio.sleep(0)
        await clock.forward(61)
        await server.until(lambda count: count == 0)


async def test_a_connection_is_kept_until_the_last_answer_is_read(clock: Clock) -> None:
    async with serving(PATIENT) as server:
        client = await server.connect()
        await client.send(MUCH)
        await server.until_sending(0)
        await clock.forward(10)  # longer than a connection without a request is kept
        assert 32 * MIB == await client.length_of_the_rest()
        await client.send(WHOLE)
        assert (200, "0") == await client.answer()
        await clock.forward(10)
        assert await client.is_closed()


@pytest.mark.exhaustive  # each run has test_a_head_without_end_is_refused
async def test_who_does_not_read_makes_way(clock: Clock) -> None:
    async with serving(replace(PATIENT, unread_s=5)) as server:
        slow = [await server.connect() for _ in range(PATIENT.max_connections)]
        for count, client in enumerate(slow, 1):
            await client.send(MUCH)
            await server.until_sending(0, count)
            await clock.forward(1)
        client = await server.connect()
        await client.send(WHOLE)
        assert (200, "0") == await client.answer()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await slow[0].length_of_the_rest()
        assert 32 * MIB == await slow[-1].length_of_the_rest()


async def test_one_address_leaves_room_for_others() -> None:
    limits = ConnectionLimits(per_address=2, counts_private=True)
    async with serving(limits) as server:
        other = await server.connect("127.0.0.2")
        busy = [await server.connect() for _ in range(2)]
        for count, client in enumerate(busy, 1):
            await client.send(MUCH)
            await server.until_sending(0, count)
        assert (429, "too_many_connections") == await (await server.connect()).refusal()
        assert 32 * MIB == await busy[0].length_of_the_rest()
        client = await server.connect()  # for which the first one makes way, which has its answer
        await client.send(WHOLE)
        assert (200, "0") == await client.answer()
        assert await busy[0].is_closed()
        await other.send(WHOLE)  # that has waited for longest
        assert (200, "0") == await other.answer()


async def test_one_account_leaves_room_for_others(clock: Clock) -> None:
    def much(account: int) -> bytes:
        return MUCH.replace(b"/much", b"/much?%d" % account)

    async with serving(replace(PATIENT, per_account=2, unread_s=5)) as server:
        mine = [await server.connect() for _ in range(4)]
        for count, client in enumerate(mine[:2], 1):
            await client.send(much(1))
            await server.until_sending(0, count)
        await mine[2].send(much(1))
        assert (429, "") == await mine[2].answer()
        await mine[2].send(much(2))
        await server.until_sending(0, 3)  # somebody else's
        assert 32 * MIB == await mine[0].length_of_the_rest()
        await mine[3].send(much(1))  # instead of what was read
        await server.until_sending(0, 3)
        await clock.forward(5)
        last = await server.connect()
        await last.send(HEAD.replace(b"/x", b"/x?1") + b"\r\n")
        assert (200, "0") == await last.answer()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
            await mine[1].length_of_the_rest()  # the slowest of theirs made way


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (("8.8.8.8", 1), "8.8.8.8"),
        (("::ffff:8.8.8.8", 1), "8.8.8.8"),
        (("2606:4700::1:2:3:4", 1), "2606:4700::/64"),
        (("10.1.2.3", 1), None),
        (("::1", 1), None),
        (("fe80::1%eth0", 1), None),
        (("/run/socket", 1), None),
        (None, None),
    ],
)
def test_connections_are_counted_by_who_could_open_them(
    client: tuple[str, int] | None, expected: str | None
) -> None:
    assert expected == counted_address(client, ConnectionLimits())


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


@pytest.mark.exhaustive  # each run has test_a_head_without_end_is_refused
async def test_who_is_being_answered_is_not_closed_for_others() -> None:
    async with serving(PATIENT) as server:
        busy = [await server.connect() for _ in range(PATIENT.max_connections)]
        for client in busy:
            await client.send(MUCH)
            assert b"HTTP/1.1 200" == await client.first(12)
        assert (503, "too_many_connections") == await (await server.connect()).refusal()
        for client in busy:
            assert 32 * MIB == await client.length_of_the_rest()


RAISED = """
import resource
from kernelbot.server.connection_limits import raise_open_files
raise_open_files()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    begin = f"ulimit -Sn 300; ulimit -Hn 700; exec {sys.executable} -c '{RAISED}'"
    done = subprocess.run(["/bin/sh", "-c", begin], capture_output=True, text=True, check=True)
    assert "700\n" == done.stdout


@pytest.mark.parametrize(
    ("files", "most", "of_one"), [(2, 1, 1), (256, 128, 16), (1024, 768, 48), (65_536, 4096, 256)]
)
def test_so_many_connections_as_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, files: int, most: int, of_one: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    limits = connection_limits()
    assert (most, of_one) == (limits.max_connections, limits.per_account)
