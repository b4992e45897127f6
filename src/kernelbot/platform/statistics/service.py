"""How much was submitted and judged."""

import time

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.boards.service import organised_board
from kernelbot.platform.statistics import store as statistics
from kernelbot.platform.statistics.model import Statistics
from kernelbot.store.database import Database


class StatisticsService:
    """Counts anew, unless older numbers are asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: dict[tuple[int | None, bool], tuple[float, Statistics]] = {}
        """The last numbers of a board, or everything, and when they were counted."""

    async def show(
        self,
        viewer: User,
        *,
        board: str | None = None,
        last_day: bool = False,
        max_age_s: float = 0.0,
    ) -> Statistics:
        """Statistics of one board for its organisers, of everything for admins. `max_age_s`: how
        old the numbers may be if they have been counted before.

        Raises `NotFound`, `NotAllowed`.
        """
        async with self._database.read() as session:
            if board is None:
                require_admin(viewer)
                found = None
            else:
                found = await organised_board(session, viewer, board)
            key = found.id if found else None, last_day
            now = time.monotonic()
            at, numbers = self._counted.get(key, (now, None))
            if numbers is None or now - at >= max_age_s:
                numbers = await statistics.count(session, found, last_day=last_day)
                self._counted[key] = now, numbers
            return numbers
