"""How many jobs are judged at once, and whose turn it is."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator


class JudgingSlots:
    """A number of judgings at once; others wait in the order in which they came, behind those that
    come first.
    For one event loop."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def one(self, *, first: bool = False) -> AsyncIterator[None]:
        """A slot for the block. `first`: before all that wait."""
        await self.acquire(first=first)
        try:
            yield
        finally:
            self.release()

    async def acquire(self, *, first: bool = False) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove(turn)
            else:  # it was given to us in the same moment
                self.release()
            raise

    def release(self) -> None:
        for turn in self._waiting:
            if not turn.done():
                self._waiting.remove(turn)
                turn.set_result(None)
                return
        self._free += 1
