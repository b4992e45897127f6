"""How many runs a device takes at once, and who gets it alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class DeviceSlots:
    """A device's places. Most runs take one. A run that was lost before takes them all, so that
    a submission that brings its host down does so alone and is nobody else's failure; so does
    one of a rejudge, so that all of those are measured under the same conditions."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._free = count
        self._loners = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait for a place, or for all of them, and hold them for the block.

        Whoever waits for all goes before newcomers, or a steady stream would starve them.
        """
        wanted = self._count if alone else 1
        async with self._changed:
            self._loners += alone
            try:
                await self._changed.wait_for(
                    lambda: self._free >= wanted and (alone or not self._loners)
                )
            finally:
                self._loners -= alone
                self._changed.notify_all()
            self._free -= wanted
        try:
            yield
        finally:
            self._free += wanted
            await asyncio.shield(self._tell())

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
