"""Connections that the event loop goes on watching from one statement to the next."""

import asyncio
from typing import Any, TypeVar, cast

from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.pq import ConnStatus
from psycopg.rows import DictRow

RV = TypeVar("RV")
_READABLE = 1
"""For psycopg: what its generators wait for and are told, that there is something to read."""
_INTERVAL_S = 0.1
"""Between two looks of psycopg's own waiting for an interruption."""


class AwaitedConnection(AsyncConnection[DictRow]):
    """psycopg adds the connection to what the loop watches and removes it again for each statement,
    a third of what a small one costs this process. This one stays there until it is closed, lost,
    or has something to say that nobody has asked for. For one event loop.

    What takes more than reading, e.g. to send a large statement or to be cancelled, is left to
    psycopg.
    """

    _loop: asyncio.AbstractEventLoop | None = None
    """That which watches the connection; None: none does."""
    _watched = -1
    """The descriptor that is watched."""
    _waiting: "asyncio.Future[None] | None" = None
    """Who waits for an answer; None: nobody does."""

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = _INTERVAL_S,
        timeout: float | None = None,  # noqa: ASYNC109  # as psycopg has it
    ) -> RV:
        """What psycopg's `wait` returns, and raises."""
        if timeout is not None:
            self._unwatch()
            return await super().wait(gen, interval, timeout)
        try:
            needs: int = next(gen)
            while needs == _READABLE:
                await self._readable()
                needs = gen.send(_READABLE)
        except StopIteration as end:
            if self.pgconn.status == ConnStatus.BAD:
                self._unwatch()
            found: RV = end.value
            return found
        except asyncio.CancelledError as error:
            self._unwatch()
            return await super().wait(_begun(gen, error), interval)
        except BaseException:
            self._unwatch()  # at once: if it is lost, its descriptor may become another's
            raise
        self._unwatch()
        return await super().wait(_begun(gen, needs), interval)

    async def close(self) -> None:
        """Close it."""
        self._unwatch()
        await super().close()

    async def _readable(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._watched = self.pgconn.socket
            self._loop.add_reader(self._watched, self._has_come)
        self._waiting = self._loop.create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _has_come(self) -> None:
        if self._waiting is None:
            self._unwatch()  # else it would be called again and again
        elif not self._waiting.done():
            self._waiting.set_result(None)

    def _unwatch(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._watched)
            self._loop = None


def _begun(gen: PQGen[RV], first: int | BaseException) -> PQGen[RV]:
    return cast(PQGen[RV], _Begun(gen, first))  # psycopg's waits ask for no more than that


class _Begun:
    """A generator of psycopg's that has begun, for a wait that begins it again: what it asks for
    first is `first`, or that is raised."""

    def __init__(self, gen: PQGen[Any], first: int | BaseException) -> None:
        self._gen = gen
        self._first: int | BaseException | None = first

    def __next__(self) -> int:
        first, self._first = self._first, None
        if first is None:
            return next(self._gen)
        if isinstance(first, BaseException):
            raise first
        return first

    def send(self, ready: int) -> int:
        """Go on."""
        return self._gen.send(ready)
