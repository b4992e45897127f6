"""Tasks that are cancelled once, and then have ended: a second cancellation would interrupt what
ends the job that they wait for."""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def result_of(task: "asyncio.Task[T]") -> T:
    """The task's result. Cancelled, however often, it cancels the task and returns once that has
    ended."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await cancel((task,))
        raise


async def cancel(tasks: "Iterable[asyncio.Task[Any]]") -> None:
    """Cancel those that nobody has cancelled, and wait for the ends of all. What they raise is
    nobody's. A cancellation meanwhile is raised after that."""
    waiting = set(tasks)
    for task in waiting:
        if not task.cancelling():
            task.cancel()
    interruption: asyncio.CancelledError | None = None
    while pending := [task for task in waiting if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            interruption = error
    for task in waiting:
        if not task.cancelled():
            task.exception()  # else asyncio complains that nobody has asked for it
    if interruption is not None:
        raise interruption
