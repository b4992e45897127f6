"""How long to wait before something is tried again."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from kernelbot.domain.errors import DeviceRefused, JobRefused, NoRoom, SchedulerError, Unavailable

T = TypeVar("T")
_LAUNCH_FIRST_S = 0.5
_LAUNCH_LONGEST_S = 10.0


async def until_available(step: Callable[[], Awaitable[T]]) -> T:
    """Do a step however long the database is away. Steps are guarded by state, so doing one
    again that had taken effect changes nothing."""
    delay_s = 0.1
    while True:
        try:
            return await step()
        except Unavailable:
            await asyncio.sleep(jittered(delay_s))
            delay_s = min(delay_s * 2, 2.0)


async def with_retries(step: Callable[[], Awaitable[T]], for_s: float) -> T:
    """Do a step that a scheduler failed at again, each time later, and for so long at least. The
    step is idempotent. Raises what it raises at last; refusals and what isn't the scheduler's at
    once."""
    ends_at = time.monotonic() + for_s
    delay_s = _LAUNCH_FIRST_S
    while True:
        try:
            return await step()
        except (JobRefused, DeviceRefused, NoRoom):
            raise
        except SchedulerError:
            if time.monotonic() >= ends_at:
                raise
        await asyncio.sleep(jittered(delay_s))
        delay_s = min(delay_s * 3, _LAUNCH_LONGEST_S)


async def cancel_until_ended(tasks: Collection[asyncio.Task[None]], again_s: float = 1.0) -> None:
    """Returns once all have ended. They are cancelled again and again: with Python 3.11 a library's
    `wait_for` swallows a cancellation that comes together with what it waits for. Of what they
    failed is told where they are waited for."""
    open_tasks = set(tasks)
    while open_tasks:
        for task in open_tasks:
            task.cancel()
        _, open_tasks = await asyncio.wait(open_tasks, timeout=again_s)


async def set_or_after(event: asyncio.Event, delay_s: float) -> bool:
    """Wait for the event, but no longer than that; whether it came. Python 3.11's `wait_for` would
    swallow a cancellation that comes together with the event."""
    try:
        async with asyncio.timeout(delay_s):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def until_set(stop: asyncio.Event, loops: list[asyncio.Task[None]]) -> None:
    """Wait, or until the first of the others ends; if it has failed, this raises why. No loop ends
    otherwise."""
    stopped = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait([stopped, *loops], return_when=asyncio.FIRST_COMPLETED)
        for task in done - {stopped}:
            task.result()
    finally:
        stopped.cancel()


def jittered(delay_s: float) -> float:
    """About as long, so that many who wait don't come back together."""
    return delay_s * random.uniform(0.5, 1.5)
