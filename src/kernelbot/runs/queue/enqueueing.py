"""Putting into the queue what the platform itself has judged: duels, and known right files."""

from collections.abc import Awaitable, Callable

from kernelbot.store.database import Database, ReadSession, WriteSession


async def enqueue_all(
    database: Database,
    device: str,
    waits: Callable[[ReadSession, str], Awaitable[bool]],
    enqueue: Callable[[WriteSession, str], Awaitable[bool]],
) -> None:
    """Put the device's into the queue, each in a transaction of its own: it locks the turn of one
    author, and others wait for that in any order. Asked before each claim, and there is seldom one.

    `waits`: whether one isn't in the queue yet. `enqueue`: puts the first such one there; whether
    there was one.
    """
    async with database.read() as session:
        found = await waits(session, device)
    while found:
        async with database.write() as session:
            found = await enqueue(session, device)
