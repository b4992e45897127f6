"""Takes pairs as there is room for them, and yields reports as they come."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from typing import Generic, TypeVar

P = TypeVar("P")
R = TypeVar("R")


async def reports_of(
    pairs: Iterable[P] | AsyncIterable[P],
    begin: Callable[[P, int], "asyncio.Task[R]"],
    *,
    ahead: int,
) -> AsyncGenerator[R, None]:
    """Yield the results of the tasks that `begin` makes of each pair and its number, as they end;
    no more than `ahead` of them are begun and not yielded. If a task or `pairs` raises, or nobody
    goes on, all others are cancelled, and have ended."""
    feed = _Feed(pairs, begin, ahead)
    try:
        while (ended := await feed.next_ended()) is not None:
            yield ended.result()
    finally:
        await feed.cancel()


class _Feed(Generic[P, R]):
    """What is under way."""

    def __init__(
        self,
        pairs: Iterable[P] | AsyncIterable[P],
        begin: Callable[[P, int], "asyncio.Task[R]"],
        ahead: int,
    ) -> None:
        self._pairs = aiter(_as_they_come(pairs))
        self._begin = begin
        self._ahead = ahead
        self._begun = 0
        self._running: set[asyncio.Task[R]] = set()
        self._ended: deque[asyncio.Task[R]] = deque()
        self._upcoming: asyncio.Task[P] | None = None
        self._is_over = False

    async def next_ended(self) -> "asyncio.Task[R] | None":
        """The next task that has ended; None once there are no more. Raises what `pairs` raises."""
        while not self._ended:
            self._ask()
            waiting = self._running | ({self._upcoming} if self._upcoming else set())
            if not waiting:
                return None
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if self._upcoming in done:
                self._take(self._upcoming)
        return self._ended.popleft()

    def _ask(self) -> None:
        has_room = len(self._running) + len(self._ended) < self._ahead
        if self._upcoming is None and has_room and not self._is_over:
            self._upcoming = asyncio.create_task(_next(self._pairs))

    def _take(self, upcoming: "asyncio.Task[P]") -> None:
        self._upcoming = None
        try:
            pair = upcoming.result()
        except _NoMore:
            self._is_over = True
            return
        task = self._begin(pair, self._begun)
        self._begun += 1
        self._running.add(task)
        task.add_done_callback(self._note_ended)

    def _note_ended(self, task: "asyncio.Task[R]") -> None:
        """Called in the order in which they ended."""
        self._running.remove(task)
        self._ended.append(task)

    async def cancel(self) -> None:
        """End what is under way."""
        tasks = self._running | ({self._upcoming} if self._upcoming else set())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._ended, return_exceptions=True)


class _NoMore(Exception):
    """There are no more pairs. A task can't raise `StopAsyncIteration`."""


async def _next(pairs: AsyncIterator[P]) -> P:
    try:
        return await anext(pairs)
    except StopAsyncIteration:
        raise _NoMore from None


async def _as_they_come(pairs: Iterable[P] | AsyncIterable[P]) -> AsyncIterator[P]:
    if isinstance(pairs, AsyncIterable):
        async for pair in pairs:
            yield pair
    else:
        for pair in pairs:
            yield pair
