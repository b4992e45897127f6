"""The ranking of a board: each author's best run on a device."""

from dataclasses import dataclass

from kernelbot.accounts.model import User
from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.boards.model import Board
from kernelbot.boards.service import find_board, offered_device, visible_boards
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.ranking import store as standings
from kernelbot.ranking.marks import PageMarks
from kernelbot.ranking.model import RankedBoard, Standing, StandingsPage
from kernelbot.store.database import Database

_PAGES = 256
_KEPT_ROWS = 1000
"""Pages further down aren't kept: the same one is seldom asked for again, and the garbage collector
scans all that is kept."""
_RANKINGS = 64
MAX_TABLE_ROWS = 10_000
_PODIUM = 3
"""The most rows of a ranking as one file: 1 MB, in memory for a moment."""
_PageKey = tuple[int, str, int, int]
"""Board, device, limit and offset."""


@dataclass(frozen=True)
class RankingVersion:
    """A board's ranking on a device. While two of these are equal, so are the rows."""

    board: Board
    device: str
    total: int
    """The number of authors."""
    version: int
    organiser_id: int
    """Who created the board."""


class StandingsService:
    """Reads the ranking; what counts is decided in SQL when a verdict is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = VersionedCache[_PageKey, tuple[Standing, ...]](_PAGES)
        self._marks = VersionedCache[tuple[int, str], PageMarks](_RANKINGS)

    async def page(
        self,
        viewer: User | None,
        board: str,
        device: str | None,
        *,
        limit: int = PAGE_ROWS,
        offset: int = 0,
    ) -> StandingsPage:
        """A page of the ranking. `device` None: the board's first.

        Raises `NotFound` for a board the viewer can't see, `DeviceNotOffered`.
        """
        found = await self.ranking(viewer, board, device)
        return await self.page_of(found, limit=limit, offset=offset)

    async def ranking(self, viewer: User | None, board: str, device: str | None) -> RankingVersion:
        """The ranking as it is now: enough to tell whether it has changed. Raises as `page`."""
        async with self._database.read() as session:
            found = await find_board(session, viewer, board)
        chosen = offered_device(found.board, device)
        size = found.rankings[chosen]
        return RankingVersion(found.board, chosen, size.authors, size.version, found.creator_id)

    async def look(self, token: str, board: str) -> OwnerLook | None:
        """Whether what was shown of a public board's rankings is still true; None: the token isn't
        valid, or there is no such board."""
        async with self._database.read() as session:
            return await standings.look(session, token_hash(token), board)

    async def stamp(self, board: str) -> int | None:
        """That of a public board as `look` finds it; what is read after it is as new, or newer."""
        async with self._database.read() as session:
            return await standings.stamp(session, board)

    async def page_of(self, found: RankingVersion, *, limit: int, offset: int) -> StandingsPage:
        """Some of its rows, as they were at `found` or newer, never older."""
        rows = await self._rows(found, limit, offset) if offset < found.total else ()
        return StandingsPage(found.board.name, found.device, found.total, rows)

    async def table(
        self, viewer: User | None, board: str, device: str | None, *, offset: int = 0
    ) -> StandingsPage:
        """The whole ranking from there on, `MAX_TABLE_ROWS` authors at most. Raises as `page`."""
        return await self.page(viewer, board, device, limit=MAX_TABLE_ROWS, offset=offset)

    async def podiums(self, viewer: User | None) -> list[RankedBoard]:
        """Every board that the viewer may see, the newest first, with the first three of the
        ranking on its first device."""
        async with self._database.read() as session:
            seen = await visible_boards(session, viewer)
        rankings = [
            RankingVersion(one.board, device, size.authors, size.version, one.creator_id)
            for one in seen
            for device, size in list(one.rankings.items())[:1]
        ]
        return [
            RankedBoard(ranking.board, await self.page_of(ranking, limit=_PODIUM, offset=0))
            for ranking in rankings
        ]

    async def _rows(self, found: RankingVersion, limit: int, offset: int) -> tuple[Standing, ...]:
        key = (found.board.id, found.device, limit, offset)
        rows = self._pages.get(key, found.version)
        if rows is None:
            rows = await self._read(key, found.version)
            if offset + limit <= _KEPT_ROWS:
                self._pages.keep(key, found.version, rows)
        return rows

    async def _read(self, key: _PageKey, version: int) -> tuple[Standing, ...]:
        board_id, device, limit, offset = key
        marks = self._marks.get((board_id, device), version)
        if marks is None:
            marks = PageMarks()
            self._marks.keep((board_id, device), version, marks)
        start = marks.before(offset)
        async with self._database.read() as session:
            read = await standings.page(
                session, board_id, device, limit=limit, offset=offset, start=start
            )
            if read.version == version:
                marks.add(offset, read.rows)
            elif start is not standings.TOP:  # it has changed since: the mark may have moved
                read = await standings.page(session, board_id, device, limit=limit, offset=offset)
        return read.rows

    async def count(
        self, viewer: User | None, board: str, device: str, *, author_id: int | None = None
    ) -> int:
        """How many authors are ranked; with `author_id`, how many of their submissions count.

        Raises as `page`.
        """
        found = await self.ranking(viewer, board, device)
        if author_id is None:
            return found.total
        async with self._database.read() as session:
            return await standings.submissions_of(session, found.board.id, found.device, author_id)
