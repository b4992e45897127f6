"""Waiting for announcements."""

import asyncio

import pytest

from kernelbot.platform.notifications import Waker


async def waiting(waker: Waker) -> None:
    while True:
        await waker.wait(3600)


async def test_a_cancellation_that_comes_with_an_announcement_counts() -> None:
    event = asyncio.Event()
    task = asyncio.create_task(waiting(Waker(event)))
    await asyncio.sleep(0)
    event.set()
    await asyncio.sleep(0)  # whoever waits inside has seen it, and whoever waits for that hasn't
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=60)
    assert ({task}, True) == (done, task.cancelled())


async def test_a_wait_ends_without_an_announcement() -> None:
    waker = Waker(asyncio.Event())
    async with asyncio.timeout(60):
        await waker.wait(0.01)


async def test_an_announcement_wakes_once() -> None:
    event = asyncio.Event()
    waker = Waker(event)
    event.set()
    await waker.wait(60)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):  # nothing comes, ever
            await waker.announced()
