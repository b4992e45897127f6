"""The ranking of a board: each author's best run on a device."""

from kernelbot.domain.errors import DeviceNotOffered
from kernelbot.domain.types import Board, Standing, StandingsPage, User
from kernelbot.services.boards import find_board
from kernelbot.services.marks import Marks
from kernelbot.services.recent import Recent
from kernelbot.store import standings
from kernelbot.store.database import Database, ReadSession

_MAX_OFFSET = 10_000_000
_PAGES = 512
_RANKINGS = 64
_PageKey = tuple[int, str, int, int]
"""Board, device, limit and offset."""


class StandingsService:
    """Reads the ranking; what counts is decided in SQL when a verdict is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = Recent[_PageKey, tuple[Standing, ...]](_PAGES)
        self._marks = Recent[tuple[int, str], Marks](_RANKINGS)

    async def page(
        self,
        viewer: User | None,
        board: str,
        device: str | None,
        *,
        limit: int = 50,
        offset: int = 0,
    ) -> StandingsPage:
        """A stretch of the ranking. `device` None: the board's first.

        Raises `NotFound` for a board the viewer can't see, `DeviceNotOffered`.
        """
        offset = min(offset, _MAX_OFFSET)
        async with self._database.read() as session:
            found = await find_board(session, viewer, board)
            chosen = _offered(found.board, device)
            size = found.rankings[chosen]
            key = (found.board.id, chosen, limit, offset)
            rows = await self._rows(session, key, size.version) if offset < size.authors else ()
        return StandingsPage(found.board, chosen, size.authors, rows)

    async def _rows(
        self, session: ReadSession, key: _PageKey, version: int
    ) -> tuple[Standing, ...]:
        """Those kept of this version, or those of now: newer than it says, never older."""
        rows = self._pages.get(key, version)
        if rows is None:
            rows = await self._read(session, key, version)
            self._pages.keep(key, version, rows)
        return rows

    async def _read(
        self, session: ReadSession, key: _PageKey, version: int
    ) -> tuple[Standing, ...]:
        board_id, device, limit, offset = key
        marks = self._marks.get((board_id, device), version)
        if marks is None:
            marks = Marks()
            self._marks.keep((board_id, device), version, marks)
        start = marks.before(offset)
        read = await standings.page(
            session, board_id, device, limit=limit, offset=offset, start=start
        )
        if read.version == version:
            marks.add(offset, read.rows[0])
        elif start is not standings.TOP:  # it has changed since: the mark may have moved
            read = await standings.page(session, board_id, device, limit=limit, offset=offset)
        return read.rows

    async def count(
        self, viewer: User | None, board: str, device: str, *, author_id: int | None = None
    ) -> int:
        """How many authors are ranked; with `author_id`, how many of his submissions count.

        Raises as `page`.
        """
        async with self._database.read() as session:
            found = await find_board(session, viewer, board)
            chosen = _offered(found.board, device)
            if author_id is None:
                return found.rankings[chosen].authors
            return await standings.submissions_of(session, found.board.id, chosen, author_id)


def _offered(board: Board, device: str | None) -> str:
    """The device as the board names it; None: its first. Raises `DeviceNotOffered`."""
    offered = {name.lower(): name for name in board.devices}
    chosen = board.devices[0] if device is None else offered.get(device.lower())
    if chosen is None:
        raise DeviceNotOffered(
            f"Board {board.name!r} doesn't offer {device!r}.",
            hint=f"It offers: {', '.join(board.devices)}.",
        )
    return chosen
