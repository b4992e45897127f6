"""What is tried again."""

import asyncio
import contextlib

from kernelbot.worker.retries import cancel_until_ended


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
