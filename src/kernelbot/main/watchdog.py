"""The last resort against a process that hangs in code of its own."""

import asyncio
import contextlib
import faulthandler
from collections.abc import AsyncIterator

STANDSTILL_S = 60.0


@contextlib.asynccontextmanager
async def watched(standstill_s: float = STANDSTILL_S) -> AsyncIterator[None]:
    """While the block runs: where the event loop stands still for so long, the process ends at
    once, with code 1 and the lines where it stood on stderr. Whoever supervises starts another.

    A regular expression that never ends holds Python's own threads up, but not this: it is a
    thread of the interpreter's.
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
