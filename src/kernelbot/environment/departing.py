"""Over HTTP as over a WebSocket: nothing is judged for a client that is gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from kernelbot.api.departures import departure

T = TypeVar("T")


async def unless_gone(receive: Receive, answering: Coroutine[Any, Any, T]) -> T | None:
    """What is awaited, and what it raises; None if the client leaves before: then it is cancelled,
    and has ended. `receive`: of a request whose body has been read."""
    answer = asyncio.create_task(answering)
    leaving = asyncio.create_task(departure(receive))
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        answer.cancel()
        leaving.cancel()
        await asyncio.wait((answer, leaving))
