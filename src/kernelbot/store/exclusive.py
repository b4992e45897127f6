"""What only one process may do at a time, however many machines share a database."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import psycopg

from kernelbot.domain.errors import Unavailable
from kernelbot.store.connections import ALIVE, CONNECT_S, why_unreachable
from kernelbot.store.locks import Lock

_PAUSE_S = 2.0


@contextlib.asynccontextmanager
async def only_one(
    url: str, lock: Lock, on_wait: Callable[[], None], pause_s: float = _PAUSE_S
) -> AsyncIterator[asyncio.Future[None]]:
    """Wait until nobody else has the lock, and hold it while the block runs. `on_wait` is called
    once if somebody has it. Yields a future that fails with `Unavailable` as soon as the lock is
    lost with its connection: then somebody else may have it. Raises `Unavailable`."""
    async with await _connection(url) as connection:
        waited = False
        while not await _try_lock(connection, lock):
            if not waited:
                on_wait()
            waited = True
            await asyncio.sleep(pause_s)
        holding = asyncio.ensure_future(_hold(connection, pause_s))
        try:
            yield holding
        finally:
            holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)


@contextlib.asynccontextmanager
async def if_nobody_else(url: str, lock: Lock) -> AsyncIterator[bool]:
    """Hold the lock while the block runs; False: somebody else has it, and nobody waits. It is lost
    with its connection, and nobody is told. Raises `Unavailable`."""
    async with await _connection(url) as connection:
        yield await _try_lock(connection, lock)


async def _connection(url: str) -> psycopg.AsyncConnection:
    try:
        return await psycopg.AsyncConnection.connect(
            url, autocommit=True, connect_timeout=CONNECT_S, **ALIVE
        )
    except psycopg.OperationalError as error:
        raise Unavailable(f"The database can't be reached: {why_unreachable(error)}") from error


async def _try_lock(connection: psycopg.AsyncConnection, lock: Lock) -> bool:
    try:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (lock.value,))
        row = await cursor.fetchone()
    except psycopg.OperationalError as error:
        raise Unavailable(f"The database went away: {str(error).strip()}") from error
    return row is not None and bool(row[0])


async def _hold(connection: psycopg.AsyncConnection, pause_s: float) -> None:
    while True:
        await asyncio.sleep(pause_s)
        try:
            await connection.execute("SELECT 1")
        except psycopg.Error as error:
            raise Unavailable(f"The database went away: {str(error).strip()}") from error
