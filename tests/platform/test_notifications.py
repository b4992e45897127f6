"""Waiting for announcements."""

import asyncio
import contextlib

import psycopg
import pytest

from kernelbot.platform.notifications import Listener, NotificationChannel, Waker


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


async def announced(channel: NotificationChannel, key: str, url: str) -> None:
    """Return once an announcement for the key has woken who follows it."""
    async with (
        channel.following(key) as waker,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
    ):
        async with asyncio.timeout(60):
            await waker.announced()  # the listener is there
            await connection.execute("SELECT pg_notify('second', %s)", (key,))
            await waker.announced()


async def test_announcements_that_come_together_wake_all(database_url: str) -> None:
    statement = "SELECT pg_notify('first', n::text) FROM generate_series(0, 499) n"
    async with (
        Listener(database_url, "first") as listener,
        contextlib.AsyncExitStack() as stack,
        asyncio.timeout(60),
    ):
        channel = listener.channel("first")
        # Before anything is waited for: whoever follows once it listens isn't told that it does.
        wakers = [await stack.enter_async_context(channel.following(str(n))) for n in range(500)]
        connection = await stack.enter_async_context(
            await psycopg.AsyncConnection.connect(database_url, autocommit=True)
        )
        for waker in wakers:
            await waker.announced()  # the listener is there
        for _ in range(3):
            await connection.execute(statement)
            for waker in wakers:
                await waker.announced()


async def test_everybody_is_woken_once_a_lost_connection_is_back(database_url: str) -> None:
    end_it = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )
    async with (
        Listener(database_url, "first") as listener,
        listener.channel("first").following("key") as waker,
        await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection,
        asyncio.timeout(60),
    ):
        await waker.announced()  # the listener is there
        await connection.execute(end_it)
        await waker.announced()


async def test_one_connection_listens_to_several_channels(database_url: str) -> None:
    async with (
        Listener(database_url, "first", "second") as listener,
        listener.channel("first").following("key") as other,
    ):
        await announced(listener.channel("second"), "key", database_url)
        await other.announced()  # everybody was woken once, when the listener came
        with pytest.raises(TimeoutError):  # the same key of another channel
            async with asyncio.timeout(0.05):  # nobody will announce anything
                await other.announced()


async def test_a_channel_wakes_who_follows_the_key() -> None:
    channel = NotificationChannel()
    async with channel.following("1") as mine, channel.following("2") as other:
        channel.wake("1")
        async with asyncio.timeout(60):
            await mine.announced()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):  # nobody will announce anything
                await other.announced()
