"""What is tried again."""

import asyncio
import contextlib

import psycopg

from kernelbot.store.database import Database
from kernelbot.store.timeouts import DatabaseTimeouts
from kernelbot.worker.retries import cancel_until_ended, until_available


async def test_a_step_that_the_database_ended_is_done_again(database_url: str) -> None:
    tried = asyncio.Event()
    async with Database(database_url, limits=DatabaseTimeouts(locked_s=0.05)) as database:

        async def step() -> int:
            try:
                async with database.write() as session:
                    return await session.do("UPDATE platform SET duel_places = duel_places")
            finally:
                tried.set()

        with psycopg.connect(database_url) as other:
            other.execute("LOCK TABLE platform")
            stepping = asyncio.create_task(until_available(step))
            await tried.wait()
        assert 1 == await stepping


async def test_who_misses_a_cancellation_is_cancelled_again() -> None:
    async def deaf() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        await asyncio.sleep(60)

    tasks = [asyncio.create_task(deaf()), asyncio.create_task(asyncio.sleep(60))]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await cancel_until_ended(tasks, 0.01)
    assert [True, True] == [task.cancelled() for task in tasks]


async def test_what_failed_is_left_to_whoever_waits_for_it() -> None:
    async def fails() -> None:
        raise ValueError

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await cancel_until_ended([task])
    assert isinstance(task.exception(), ValueError)
