"""Putting into the queue what the platform itself has judged: duels, and known right files."""

from collections.abc import Awaitable, Callable

from kernelbot.store.database import Database, WriteSession


async def enqueue_all(
    database: Database, device: str, enqueue: Callable[[WriteSession, str], Awaitable[bool]]
) -> None:
    """Put the device's into the queue, each in a transaction of its own: it locks the turn of one
    author, and others wait for that in any order. `enqueue`: puts the first that isn't there yet;
    whether there was one."""
    found = True
    while found:
        async with database.write() as session:
            found = await enqueue(session, device)
