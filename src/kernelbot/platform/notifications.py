"""Wakes tasks that wait for something that a transaction of any process announces (NOTIFY)."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Self

import psycopg
import structlog

from kernelbot.store.connections import ALIVE

_RETRY_S = 1.0
_POLL_S = 15.0
log = structlog.get_logger()


class Listener:
    """One connection that listens to one channel, shared by all who wait in this process.

    Announcements are lost while the connection is down, so everybody is woken when it is back, and
    waiting has a time limit. A wake is therefore a hint to look, never the news itself.
    """

    def __init__(self, url: str, channel: str) -> None:
        self._url = url
        self._channel = channel
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen(), name=f"listen {self._channel}")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    @contextlib.asynccontextmanager
    async def following(self, key: str) -> AsyncIterator["Waker"]:
        """Announcements for `key` from now on."""
        event = asyncio.Event()
        self._waiting[key].add(event)
        try:
            yield Waker(event)
        finally:
            self._waiting[key].discard(event)
            if not self._waiting[key]:
                del self._waiting[key]

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except (psycopg.Error, OSError) as error:
                log.warning("listener_lost", channel=self._channel, error=str(error).strip())
                await asyncio.sleep(_RETRY_S)

    async def _listen_once(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=5, **ALIVE
        )
        async with connection:
            await connection.execute(
                psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(self._channel))
            )
            for events in self._waiting.values():
                _wake(events)
            async for notice in connection.notifies():
                _wake(self._waiting.get(notice.payload, set()))


class Waker:
    """Something to wait on."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    async def wait(self, longest_s: float = _POLL_S) -> None:
        """Return at the next announcement, or after a while in case one was missed. (Python 3.11's
        `wait_for` would swallow a cancellation that comes together with one.)"""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                await self._event.wait()
        self._event.clear()

    async def announced(self) -> None:
        """Return at the next announcement, however long it takes."""
        await self._event.wait()
        self._event.clear()


def _wake(events: set[asyncio.Event]) -> None:
    for event in events:
        event.set()
