"""What has happened on boards of late."""

from collections.abc import Sequence

from kernelbot.boards.model import Board
from kernelbot.ranking import store as standings
from kernelbot.ranking.model import Recent
from kernelbot.store.database import Database

_COUNTED = 5000
"""The most submissions that are looked at, so that a busy day costs no more than 3 ms."""
_RECORDS = 5


class Activity:
    """Reads two bounded statements, whatever the number of submissions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recent(self, listed: Sequence[Board]) -> Recent:
        """What has happened on these boards, which the caller has found to be visible."""
        ids = [one.id for one in listed]
        async with self._database.read() as session:
            counts = await standings.submitted_lately(session, most=_COUNTED)
            records = await standings.leaders(session, ids, limit=_RECORDS)
        shown = {number: counts[number] for number in ids if number in counts}
        return Recent(shown, sum(counts.values()) >= _COUNTED, records)
