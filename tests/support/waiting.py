"""Waiting in tests for what will be so. Each limit only ends a test that is broken: a busy machine
may need many times what a quiet one does, so no limit is below a minute."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], object], within_s: float = 60.0) -> None:
    """Return once the condition holds; raises `TimeoutError`."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110  # a condition of any kind has no event
            await asyncio.sleep(0.01)


async def until_told(asks: Callable[[], Awaitable[object]], within_s: float = 60.0) -> None:
    """The same of a condition that has to be asked for."""
    async with asyncio.timeout(within_s):
        while not await asks():  # noqa: ASYNC110  # as people ask
            await asyncio.sleep(0.01)
