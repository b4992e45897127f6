"""Events with pauses between them, for those who show them as they come."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from kernelbot.submissions.model import Event


async def paced(
    events: AsyncIterator[Event], pause_s: Callable[[], float]
) -> AsyncGenerator[Event | None, None]:
    """The events, and None after each `pause_s` without one."""
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
