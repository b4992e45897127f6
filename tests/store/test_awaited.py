"""Connections that the event loop goes on watching."""

import asyncio
from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from psycopg.rows import dict_row

from kernelbot.store.awaited import AwaitedConnection

SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[AwaitedConnection]:
    opened = await AwaitedConnection.connect(database_url, autocommit=True, row_factory=dict_row)
    yield opened
    await opened.close()


class Watched:
    """Counts how often a connection is added to what the loop watches, and removed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self.added, self.removed = 0, 0
        add, remove = loop.add_reader, loop.remove_reader

        def adding(descriptor: int, callback: Callable[..., object], *given: object) -> None:
            self.added += 1
            add(descriptor, callback, *given)

        def removing(descriptor: int) -> bool:
            self.removed += 1
            return remove(descriptor)

        monkeypatch.setattr(loop, "add_reader", adding)
        monkeypatch.setattr(loop, "remove_reader", removing)


async def number(connection: AwaitedConnection, text: str = "SELECT 7 AS n") -> int:
    row = await (await connection.execute(text.encode())).fetchone()
    assert row is not None
    return int(row["n"])


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 (another process decides)
            await asyncio.sleep(0.01)


async def test_it_is_watched_once_for_many_statements(
    connection: AwaitedConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(monkeypatch)
    assert [7] * 20 == [await number(connection) for _ in range(20)]
    async with connection.transaction():
        assert 7 == await number(connection)
    assert (1, 0) == (watched.added, watched.removed)


async def test_a_statement_that_was_cancelled_ends_and_others_follow(
    connection: AwaitedConnection, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as other:
        sleeping = asyncio.create_task(number(connection, "SELECT pg_sleep(600), 1 AS n"))
        await until(lambda: other.execute(SLEEPING).fetchone() is not None)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        assert other.execute(SLEEPING).fetchone() is None
    assert 7 == await number(connection)


async def test_a_statement_larger_than_what_a_socket_takes_is_sent(
    connection: AwaitedConnection,
) -> None:
    text = "x" * (8 << 20)
    row = await (await connection.execute("SELECT length(%s) AS n", (text,))).fetchone()
    assert row == {"n": len(text)}
    assert 7 == await number(connection)


async def test_a_row_larger_than_what_a_socket_takes_is_read(connection: AwaitedConnection) -> None:
    row = await (await connection.execute("SELECT repeat('x', 20000000) AS x")).fetchone()
    assert row is not None
    assert 20_000_000 == len(row["x"])


async def test_an_error_is_raised_and_others_follow(connection: AwaitedConnection) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        await number(connection, "SELECT 1 / 0 AS n")
    assert 7 == await number(connection)


async def test_one_that_the_server_ends_is_watched_no_longer(
    connection: AwaitedConnection, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await number(connection)
    watched = Watched(monkeypatch)
    with psycopg.connect(database_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
    await until(lambda: watched.removed == 1)
    with pytest.raises(psycopg.OperationalError):
        await number(connection)


async def test_the_descriptor_of_one_that_is_lost_is_free_for_others(
    connection: AwaitedConnection, database_url: str
) -> None:
    """Else whoever gets the descriptor's number next couldn't be watched."""
    with pytest.raises(psycopg.OperationalError):
        await number(connection, "SELECT pg_terminate_backend(pg_backend_pid())::int AS n")
    others = [
        await AwaitedConnection.connect(database_url, autocommit=True, row_factory=dict_row)
        for _ in range(3)
    ]
    assert [7, 7, 7] == [await number(other) for other in others]
    for other in others:
        await other.close()
