"""What has happened on boards of late."""

import time
from collections.abc import Callable, Mapping, Sequence

from cachetools import TTLCache

from kernelbot.boards.model import Board
from kernelbot.ranking import store as standings
from kernelbot.ranking.model import Recent
from kernelbot.store.database import Database

_COUNTED = 5000
"""The most submissions that are looked at, so that a busy day costs no more than 3 ms."""
_COUNTED_S = 5.0
"""For so long they aren't counted again, which is half of what a page costs on a busy day."""
_RECORDS = 5


class Activity:
    """Reads two bounded statements, whatever the number of submissions."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: in seconds."""
        self._database = database
        self._counted = TTLCache[None, Mapping[int, int]](1, _COUNTED_S, clock)
        """The newest submissions by board."""

    async def recent(self, listed: Sequence[Board]) -> Recent:
        """What has happened on these boards, which the caller has found to be visible. The
        submissions may have been counted five seconds ago."""
        ids = [one.id for one in listed]
        async with self._database.read() as session:
            counts = self._counted.get(None)
            if counts is None:
                counts = await standings.submitted_lately(session, most=_COUNTED)
                self._counted[None] = counts
            records = await standings.leaders(session, ids, limit=_RECORDS)
        shown = {number: counts[number] for number in ids if number in counts}
        return Recent(shown, sum(counts.values()) >= _COUNTED, records)
