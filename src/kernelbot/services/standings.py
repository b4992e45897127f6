"""The ranking of a board: each author's best run on a device."""

from kernelbot.domain.errors import DeviceNotOffered
from kernelbot.domain.types import Board, Standing, StandingsPage, User
from kernelbot.services.boards import visible_board
from kernelbot.services.recent import Recent
from kernelbot.store import standings
from kernelbot.store.database import Database

_MAX_OFFSET = 10_000_000
_PAGES = 512


class StandingsService:
    """Reads the ranking; what counts is decided in SQL when a verdict is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages = Recent[tuple[int, str, int, int], tuple[Standing, ...]](_PAGES)

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
        async with self._database.read() as session:
            found = await visible_board(session, viewer, board)
            chosen = _offered(found, device)
            # First the version: what is then read may be newer than it says, never older.
            size = await standings.size(session, found.id, chosen)
            key = (found.id, chosen, limit, min(offset, _MAX_OFFSET))
            rows = self._pages.get(key, size.version)
            if rows is None:
                rows = await standings.page(
                    session, found.id, chosen, limit=limit, offset=min(offset, _MAX_OFFSET)
                )
                self._pages.keep(key, size.version, rows)
        return StandingsPage(found, chosen, size.authors, rows)

    async def count(
        self, viewer: User | None, board: str, device: str, *, author_id: int | None = None
    ) -> int:
        """How many authors are ranked; with `author_id`, how many of his submissions count.

        Raises as `page`.
        """
        async with self._database.read() as session:
            found = await visible_board(session, viewer, board)
            chosen = _offered(found, device)
            if author_id is None:
                return (await standings.size(session, found.id, chosen)).authors
            return await standings.submissions_of(session, found.id, chosen, author_id)


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
