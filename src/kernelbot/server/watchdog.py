"""Ends a process whose own code hangs."""

import asyncio
import contextlib
import faulthandler
from collections.abc import AsyncIterator

STANDSTILL_S = 60.0


@contextlib.asynccontextmanager
async def watched(standstill_s: float = STANDSTILL_S) -> AsyncIterator[None]:
    """While the block runs: if the event loop stands still for `standstill_s`, the process ends at
    once with code 1 and a traceback on stderr. Its supervisor starts another one.

    A regular expression that never ends blocks all Python threads, but not this one, which belongs
    to the interpreter itself.
    """
    task = asyncio.create_task(_wind_up(standstill_s), name="watchdog")
    try:
        yield
    finally:
        task.cancel()
        faulthandler.cancel_dump_traceback_later()


async def _wind_up(standstill_s: float) -> None:
    while True:
        faulthandler.dump_traceback_later(standstill_s, exit=True)
        await asyncio.sleep(standstill_s / 4)
