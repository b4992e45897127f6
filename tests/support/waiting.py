"""Waiting in tests for what will be so."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], within_s: float = 20.0) -> None:
    """Return once the condition holds; raises `TimeoutError`."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110  # a condition of any kind has no event
            await asyncio.sleep(0.01)
