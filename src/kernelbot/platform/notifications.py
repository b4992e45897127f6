"""Wakes tasks that wait for something that a transaction of any process announces (NOTIFY)."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Self

import psycopg
import structlog

from kernelbot.store.connections import ALIVE, CONNECT_S

_RETRY_S = 1.0
_POLL_S = 15.0
log = structlog.get_logger()


class NotificationChannel:
    """Who waits in this process for what one channel announces, by key: an announcement's text."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)

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

    def wake(self, key: str) -> None:
        """Wake those who wait for `key`."""
        for event in self._waiting.get(key, ()):
            event.set()

    def wake_all(self) -> None:
        for key in self._waiting:
            self.wake(key)


class Listener:
    """One connection that listens to channels, shared by all who wait in this process.

    Announcements are lost while the connection is down, so everybody is woken when it is back, and
    waiting has a time limit. A wake is therefore a hint to look, never the news itself.
    """

    def __init__(self, url: str, *channels: str) -> None:
        self._url = url
        self._channels = {name: NotificationChannel() for name in channels}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen(), name=f"listen {self._names}")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def channel(self, name: str) -> NotificationChannel:
        """One of the channels that this listens to."""
        return self._channels[name]

    @property
    def _names(self) -> str:
        return ", ".join(self._channels)

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except (psycopg.Error, OSError) as error:
                log.warning("listener_lost", channels=self._names, error=str(error).strip())
                await asyncio.sleep(_RETRY_S)

    async def _listen_once(self) -> None:
        connection = await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_S, **ALIVE
        )
        async with connection:
            for name in self._channels:
                await connection.execute(
                    psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(name))
                )
            for channel in self._channels.values():
                channel.wake_all()
            with _watched(connection.fileno()) as readable:
                while True:
                    readable.clear()
                    connection.pgconn.consume_input()
                    while (notice := connection.pgconn.notifies()) is not None:
                        self._channels[notice.relname.decode()].wake(notice.extra.decode())
                    await readable.wait()


@contextlib.contextmanager
def _watched(descriptor: int) -> Iterator[asyncio.Event]:
    """An event that is set when the server has said something, or is gone. The loop goes on
    watching from one announcement to the next: for psycopg's own `notifies` it would begin and end
    that twice for each, and look ten times a second, which is most of what a process does that has
    nothing to do."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        yield readable
    finally:  # before anything else runs: if it is lost, its descriptor may become another's
        loop.remove_reader(descriptor)


class Waker:
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
