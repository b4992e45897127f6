"""How scores became better over time."""

from collections.abc import Sequence

from kernelbot.accounts.model import User
from kernelbot.boards.model import OwnedBoard
from kernelbot.boards.service import find_board, visible_boards
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.ranking import store as standings
from kernelbot.ranking.model import Record, Score, Trend
from kernelbot.ranking.service import RankingVersion, StandingsService
from kernelbot.store.database import Database

MAX_AUTHORS = 5
"""Lines that can still be distinguished in one chart."""
_SHOWN = 400
_NAMES = 10
_RANKINGS = 512


class Trends:
    """Reads; a board's records are kept until its ranking changes, since finding them reads all
    scores of the board."""

    def __init__(self, database: Database, ranking: StandingsService) -> None:
        self._database = database
        self._ranking = ranking
        self._records = VersionedCache[tuple[int, str], tuple[Score, ...]](_RANKINGS)

    async def for_board(
        self, viewer: User | None, board: str, device: str | None, authors: Sequence[str]
    ) -> tuple[RankingVersion, Trend]:
        """The records, and the scores of the first `MAX_AUTHORS` of these authors who are ranked
        there; with the ranking that it is true of.

        Raises `NotFound` for a board the viewer can't see, `DeviceNotOffered`.
        """
        found = await self._ranking.ranking(viewer, board, device)
        records = await self._records_of(found)
        place = (found.board.id, found.device)
        async with self._database.read() as session:
            names = await standings.ranked_authors(session, *place, authors) if authors else {}
            chosen = {}
            for author_id, name in list(names.items())[:MAX_AUTHORS]:
                chosen[name] = await standings.scores(
                    session, *place, author_id=author_id, limit=_SHOWN
                )
        return found, Trend(found.board.name, found.device, records, chosen)

    async def names(
        self, viewer: User | None, board: str, device: str | None, beginning: str
    ) -> tuple[str, ...]:
        """Names that begin so, in upper or lower case, of the best 2,000 authors who are ranked
        there, the best first; ten at most. Raises as `for_board`."""
        found = await self._ranking.ranking(viewer, board, device)
        if not beginning or "\x00" in beginning:
            return ()
        async with self._database.read() as session:
            return await standings.names_beginning(
                session, found.board.id, found.device, beginning, limit=_NAMES
            )

    async def latest(
        self, viewer: User | None, board: str | None = None, *, limit: int
    ) -> list[Record]:
        """The latest records of a board on all of its devices, or of all boards that the viewer may
        see, the newest first. Raises `NotFound`."""
        async with self._database.read() as session:
            if board is None:
                seen = await visible_boards(session, viewer)
            else:
                seen = [await find_board(session, viewer, board)]
        return await self.latest_of(seen, limit=limit)

    async def latest_of(self, seen: Sequence[OwnedBoard], *, limit: int) -> list[Record]:
        """The latest records of boards that the viewer may see, the newest first."""
        found = [
            Record(one.board.name, device, scored)
            for one in seen
            for device, size in one.rankings.items()
            if size.authors
            for scored in await self._cached_records(one.board.id, device, size.version)
        ]
        return sorted(found, key=lambda record: record.score.achieved_at, reverse=True)[:limit]

    async def _records_of(self, found: RankingVersion) -> tuple[Score, ...]:
        return await self._cached_records(found.board.id, found.device, found.version)

    async def _cached_records(self, board_id: int, device: str, version: int) -> tuple[Score, ...]:
        key = (board_id, device)
        records = self._records.get(key, version)
        if records is None:
            async with self._database.read() as session:
                records = await standings.records(session, *key)
            self._records.keep(key, version, records)
        return records
