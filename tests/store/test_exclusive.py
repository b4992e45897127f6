import asyncio

import psycopg
import pytest

from kernelbot.domain.errors import Unavailable
from kernelbot.store.exclusive import only_one
from kernelbot.store.locks import Lock

LOCK = Lock.BOT


async def test_the_second_waits_until_the_first_is_gone(database_url: str) -> None:
    waits = asyncio.Event()

    async def second() -> bool:
        async with only_one(database_url, LOCK, waits.set, pause_s=0.01):
            return True

    async with only_one(database_url, LOCK, lambda: None, pause_s=0.01):
        task = asyncio.create_task(second())
        await waits.wait()
        assert not task.done()
    async with asyncio.timeout(60):
        assert await task


async def test_who_loses_the_connection_is_told(database_url: str) -> None:
    async with only_one(database_url, LOCK, lambda: None, pause_s=0.01) as held:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks"
                " WHERE locktype = 'advisory' AND objid = %s",
                (LOCK.value & 0xFFFFFFFF,),
            )
        with pytest.raises(Unavailable, match="went away"):
            async with asyncio.timeout(60):
                await held


async def test_without_a_database_it_says_so() -> None:
    with pytest.raises(Unavailable, match="can't be reached"):
        async with only_one("postgresql://127.0.0.1:1/x", LOCK, lambda: None):
            pass
