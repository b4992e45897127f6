"""Events with pauses between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from kernelbot.submissions.pacing import paced

LONG_S = 600.0


class Source:
    """Events, of which the last is never there; and whether its listener has ended."""

    def __init__(self, *events: str, ends: bool = True) -> None:
        self._events = events
        self._ends = ends
        self.ended = False

    async def listen(self) -> AsyncIterator[str]:
        try:
            for event in self._events:
                yield event
            if not self._ends:
                await asyncio.Event().wait()
        finally:
            self.ended = True


class Plain:
    """Events that have no end to be told of."""

    def __init__(self) -> None:
        self._left = ["a", "b"]

    def __aiter__(self) -> "Plain":
        return self

    async def __anext__(self) -> str:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop(0)


async def test_events_come_as_they_are_and_end() -> None:
    source = Source("a", "b")
    assert ["a", "b"] == [event async for event in paced(source.listen(), lambda: LONG_S)]
    assert ["a", "b"] == [event async for event in paced(Plain(), lambda: LONG_S)]
    assert source.ended


async def test_after_each_pause_without_one_there_is_nothing() -> None:
    source = Source("a", ends=False)
    seen = list[str | None]()
    async with aclosing(paced(source.listen(), lambda: 0.0 if seen else LONG_S)) as steps:
        async for step in steps:
            seen.append(step)
            if len(seen) == 3:
                break
    assert (["a", None, None], True) == (seen, source.ended)


async def test_a_reader_who_goes_leaves_no_listener() -> None:
    source = Source("a", "b", ends=False)
    before = asyncio.all_tasks()
    async with aclosing(paced(source.listen(), lambda: LONG_S)) as steps:
        assert "a" == await anext(steps)
    assert (True, before) == (source.ended, asyncio.all_tasks())
