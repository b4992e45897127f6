"""Jobs as a scheduler lists them, the newest first: one request tells of a hundred."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Generic, Protocol, TypeVar

from cachetools import FIFOCache

from kernelbot.launchers.base import JobState

_MOST_PAGES = 10
_NAMES_KEPT = 20_000
_DOUBLED_KEPT = 1000


class ListedJob(Protocol):
    @property
    def number(self) -> int:
        """The scheduler's; newer ones have higher numbers."""

    @property
    def name(self) -> str:
        """The name that we gave it; empty if we gave none."""

    @property
    def state(self) -> JobState | None:
        """None: it has ended."""


L = TypeVar("L", bound=ListedJob)


class JobFinder(Generic[L]):
    """Finds jobs by their numbers and by their names. `page` reads the list, `size` at a time,
    counting from 1; `pause_s` says what a request must be followed by."""

    def __init__(
        self,
        page: Callable[[int], Awaitable[list[L]]],
        size: int,
        pause_s: Callable[[], float],
    ) -> None:
        self._page = page
        self._size = size
        self._pause_s = pause_s
        self._numbers = FIFOCache[str, int](_NAMES_KEPT)
        """The jobs seen so far, by their names."""
        self._doubled = FIFOCache[str, frozenset[int]](_DOUBLED_KEPT)
        """The numbers of several jobs of one name."""
        self._newest = 0
        """The newest job when the list was last read without a gap."""
        self._lock = asyncio.Lock()
        self._begun = 0
        self._done = 0
        """The last reading of what is new that went well, of all that were begun."""
        self._shown: dict[int, L] = {}
        """How the jobs asked about last, and those made since, were seen last."""
        self._missing: set[int] = set()
        """Which of those asked about last the list didn't show."""
        self._again_at = float("-inf")

    async def states(self, wanted: Collection[int]) -> tuple[dict[int, L], set[int]]:
        """The wanted jobs as the list shows them, and those that it doesn't show. It is read as far
        as they reach back; if requests run short, it is what it was a moment ago, and of some jobs
        neither may be known."""
        if time.monotonic() >= self._again_at:
            await self._read_states(set(wanted))
        return self._shown, self._missing

    def put(self, job: L) -> None:
        """A job that was made just now."""
        self._shown[job.number] = job

    async def _read_states(self, wanted: set[int]) -> None:
        left, found = set(wanted), {}
        pages = 0
        while left and pages < _MOST_PAGES:
            pages += 1
            jobs = await self._read(pages)
            found.update({job.number: job for job in jobs if job.number in left})
            left -= found.keys()
            if len(jobs) < self._size or (left and jobs[-1].number < min(left)):
                break
        self._shown, self._missing = found, left
        self._again_at = time.monotonic() + pages * self._pause_s()

    async def number_of(self, name: str) -> int | None:
        """The number of the job of this name, by a list no older than this call; None: it shows
        none. Many who ask at once share one reading."""
        asked = self._begun
        async with self._lock:
            if self._done <= asked:
                self._begun += 1
                mine = self._begun
                await self._read_what_is_new()
                self._done = mine
        return self._numbers.get(name)

    def others(self, name: str, number: int) -> frozenset[int]:
        """The numbers of further jobs of that job's name, as far as the list has shown them."""
        return self._doubled.get(name, frozenset()) - {number}

    def forget(self, name: str) -> None:
        """The job is gone."""
        self._numbers.pop(name, None)
        self._doubled.pop(name, None)

    async def _read_what_is_new(self) -> None:
        """Back to what was known before; the first time, as far as it goes."""
        newest = self._newest
        for page in range(1, _MOST_PAGES + 1):
            jobs = await self._read(page)
            self._shown.update({job.number: job for job in jobs if job.number in self._shown})
            newest = max([newest, *(job.number for job in jobs)])
            if len(jobs) < self._size or jobs[-1].number <= self._newest:
                break
        self._newest = newest

    async def _read(self, page: int) -> list[L]:
        jobs = await self._page(page)
        for job in jobs:
            if job.name:
                known = self._numbers.get(job.name, job.number)
                self._numbers[job.name] = min(job.number, known)
                if known != job.number:
                    before = self._doubled.get(job.name, frozenset())
                    self._doubled[job.name] = before | {known, job.number}
        return jobs
