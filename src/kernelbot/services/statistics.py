"""How much was submitted and judged."""

from kernelbot.domain.statistics import Statistics
from kernelbot.domain.types import User
from kernelbot.services.boards import organised_board
from kernelbot.services.permissions import require_admin
from kernelbot.store import statistics
from kernelbot.store.database import Database


class StatisticsService:
    """Counts anew for each request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def show(
        self, viewer: User, *, board: str | None = None, last_day: bool = False
    ) -> Statistics:
        """Of one board for its organisers, of everything for admins.

        Raises `NotFound`, `NotAllowed`.
        """
        async with self._database.read() as session:
            if board is None:
                require_admin(viewer)
                return await statistics.count(session, None, last_day=last_day)
            found = await organised_board(session, viewer, board)
            return await statistics.count(session, found, last_day=last_day)
