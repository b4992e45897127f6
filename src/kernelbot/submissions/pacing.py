"""Events with pauses between them, for those who show them as they come."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeVar

T = TypeVar("T")


async def paced(
    events: AsyncIterator[T], pause_s: Callable[[], float]
) -> AsyncGenerator[T | None, None]:
    """The events, or batches of them, and None after each `pause_s` without one."""
    waiting = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait((waiting,), timeout=pause_s())
            if not done:
                yield None
                continue
            event = waiting.result()
            if event is None:
                return
            yield event
            waiting = asyncio.ensure_future(anext(events, None))
    finally:
        # The reader may have gone away in the middle: the listener must not outlive it.
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if isinstance(events, AsyncGenerator):
            await events.aclose()
