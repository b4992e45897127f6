"""Progress in batches: to store one event or ten costs the same."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from kernelbot.protocol import EventKind, ProgressEvent


async def next_batch(
    queue: "asyncio.Queue[ProgressEvent | None]", silent_s: float, together_s: float
) -> list[ProgressEvent | None]:
    """The next event, with those that follow it within `together_s`; after one that only says that
    the job has begun, within as long again of the first that follows it. None is the job's end, and
    so that of the batch. Empty if nothing comes within `silent_s`."""
    batch: list[ProgressEvent | None] = []
    with contextlib.suppress(TimeoutError):
        # Not `wait_for`: that of Python 3.11 may swallow a cancellation.
        async with asyncio.timeout(silent_s) as limit:
            while not batch or batch[-1] is not None:
                batch.append(await queue.get())
                if all(_only_begins(event) for event in batch[:-1]):
                    limit.reschedule(asyncio.get_running_loop().time() + together_s)
    return batch


async def batches(
    queue: "asyncio.Queue[ProgressEvent | None]",
    silent_s: float,
    first_together_s: float,
    together_s: float,
) -> AsyncGenerator[list[ProgressEvent | None], None]:
    """Batches as `next_batch` makes them, without an end: the first, which somebody waits for, with
    what follows within `first_together_s`, and each of the others within `together_s`."""
    yield await next_batch(queue, silent_s, first_together_s)
    while True:
        yield await next_batch(queue, silent_s, together_s)


def _only_begins(event: ProgressEvent | None) -> bool:
    return event is not None and event.kind is EventKind.STARTED
