"""Our runs as GitHub lists them: one request tells of the newest hundred."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection

from kernelbot.launchers.github.answers import Run
from kernelbot.launchers.github.api import PAGE, GithubApi

_MOST_PAGES = 10
_NAMES_KEPT = 20_000


class Runs:
    """Finds runs by their numbers and by their names."""

    def __init__(self, api: GithubApi) -> None:
        self._api = api
        self._numbers: OrderedDict[str, int] = OrderedDict()
        """Of the runs seen so far, by their names."""
        self._newest = 0
        """The newest run when the list was last read without a gap."""
        self._lock = asyncio.Lock()
        self._begun = 0
        self._done = 0
        """The last reading of what is new that went well, of all that were begun."""
        self._shown: dict[int, Run] = {}
        self._again_at = float("-inf")

    async def states(self, wanted: Collection[int]) -> dict[int, Run]:
        """Those of the wanted runs that the list shows. It is read as far as they reach back, and
        if requests run short, it is what it was a moment ago."""
        if time.monotonic() < self._again_at and self._shown.keys() >= set(wanted):
            return self._shown
        left, found = set(wanted), {}
        pages = 0
        while left and pages < _MOST_PAGES:
            pages += 1
            runs = await self._page(pages)
            found.update({run.id: run for run in runs if run.id in left})
            left -= found.keys()
            if len(runs) < PAGE or (left and runs[-1].id < min(left)):
                break
        self._shown = found
        self._again_at = time.monotonic() + pages * self._api.tokens.pause_s()
        return found

    async def named(self, name: str) -> int | None:
        """The number of the run of this name, by a list no older than this call; None: it shows
        none. Many who ask at once share one reading."""
        asked = self._begun
        async with self._lock:
            if self._done <= asked:
                self._begun += 1
                mine = self._begun
                await self._read_what_is_new()
                self._done = mine
        return self._numbers.get(name)

    def forget(self, name: str) -> None:
        """The run is gone."""
        self._numbers.pop(name, None)

    async def _read_what_is_new(self) -> None:
        """Back to what was known before; the first time, as far as it goes."""
        newest = self._newest
        for page in range(1, _MOST_PAGES + 1):
            runs = await self._page(page)
            newest = max([newest, *(run.id for run in runs)])
            if len(runs) < PAGE or runs[-1].id <= self._newest:
                break
        self._newest = newest

    async def _page(self, page: int) -> list[Run]:
        runs = await self._api.runs(page)
        for run in runs:
            if run.display_title:
                first = min(run.id, self._numbers.get(run.display_title, run.id))
                self._numbers[run.display_title] = first
        while len(self._numbers) > _NAMES_KEPT:
            self._numbers.popitem(last=False)
        return runs
