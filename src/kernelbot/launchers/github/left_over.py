"""Runs that are to be deleted and can't be yet: GitHub deletes none that hasn't ended."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from kernelbot.domain.errors import KernelbotError

_FIRST_PAUSE_S = 15.0
_LONGEST_PAUSE_S = 3600.0
_MOST = 1000
log = structlog.get_logger()


class LeftOverRuns:
    """Tries each again in a task of its own, after a pause that doubles, up to an hour. `delete`
    says whether a run is gone. Of more than a thousand the oldest are given up."""

    def __init__(
        self, delete: Callable[[str], Awaitable[bool]], first_pause_s: float = _FIRST_PAUSE_S
    ) -> None:
        self._delete = delete
        self._first_pause_s = first_pause_s
        self._next: dict[str, tuple[float, float]] = {}
        """When each is tried again, and the pause after that, by its number."""
        self._trying: asyncio.Task[None] | None = None

    async def delete(self, number: str) -> None:
        """Delete a run now; if it can't be, also because this raises, it is tried again."""
        self._put_off(number, self._first_pause_s)
        if self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._try())
        if await self._delete(number):
            self._next.pop(number, None)

    async def close(self) -> None:
        """Give up what is left. Idempotent."""
        trying, self._trying = self._trying, None
        if trying is not None:
            trying.cancel()
            await asyncio.wait([trying])

    async def _try(self) -> None:
        while self._next:
            await asyncio.sleep(self._first_pause_s)
            for number, (due_at, pause_s) in list(self._next.items()):
                if time.monotonic() >= due_at:
                    await self._try_one(number, pause_s)

    async def _try_one(self, number: str, pause_s: float) -> None:
        try:
            gone = await self._delete(number)
        except KernelbotError as error:
            log.warning("run_not_deleted", run=number, error=str(error))
            gone = False
        except Exception as error:  # the others must be tried all the same
            log.error("run_not_deleted", run=number, exc_info=error)
            gone = False
        if gone:
            self._next.pop(number, None)
        elif number in self._next:
            self._put_off(number, pause_s)

    def _put_off(self, number: str, pause_s: float) -> None:
        if number not in self._next and len(self._next) >= _MOST:
            del self._next[next(iter(self._next))]
        longer_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        self._next[number] = (time.monotonic() + pause_s, longer_s)
