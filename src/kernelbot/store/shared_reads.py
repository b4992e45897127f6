"""Readings that many ask for at the same moment, made once for all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from kernelbot.store.database import Database, ReadSession

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SharedReads(Generic[K, V]):
    """One reading for all in this process who ask for the same before it has begun. So each is told
    what holds after they asked, as if they had read by themselves."""

    def __init__(self, database: Database, read: Callable[[ReadSession, K], Awaitable[V]]) -> None:
        """`read`: what is asked for, by its key. Its value is shared: it must not be changed."""
        self._database = database
        self._read = read
        self._waiting: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K) -> V:
        """Raises what the reading raises, and `Unavailable`. Who is cancelled ends no reading of
        others."""
        task = self._waiting.get(key)
        if task is None:
            task = self._waiting[key] = asyncio.create_task(self._get(key))
            task.add_done_callback(_know)
        return await asyncio.shield(task)

    async def _get(self, key: K) -> V:
        try:
            async with self._database.read() as session:
                del self._waiting[key]  # before the first statement: it sees what is so by now
                return await self._read(session, key)
        finally:
            if self._waiting.get(key) is asyncio.current_task():  # no connection was to be had
                del self._waiting[key]


def _know(task: asyncio.Task[V]) -> None:
    """An error that nobody waits for any more isn't worth a warning."""
    if not task.cancelled():
        task.exception()
