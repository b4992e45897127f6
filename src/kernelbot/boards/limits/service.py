"""Rate limits of boards."""

import math

from kernelbot.accounts.model import User
from kernelbot.boards.limits import store as limits
from kernelbot.boards.limits.model import MAX_PER_HOUR, LimitCategory, RateLimit
from kernelbot.boards.model import Destination
from kernelbot.boards.service import organised_board, visible_board
from kernelbot.domain.errors import NotFound, TooManyRequests, UserError
from kernelbot.moderation.audit import service as audit
from kernelbot.render.units import wait_text
from kernelbot.store.database import Database, WriteSession

HOUR_S = 3600.0


class LimitService:
    """Limits per board and category, for each author within any hour. Without one: any number."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_limits(self, viewer: User | None, board: str) -> list[RateLimit]:
        """The board's limits that are set. Raises `NotFound`."""
        async with self._database.read() as session:
            found = await visible_board(session, viewer, board)
            return await limits.of_board(session, found.id)

    async def set(self, actor: User, board: str, limit: RateLimit) -> RateLimit:
        """Set a limit from now on; earlier submissions count only if there was a limit then.

        Raises `NotFound`, `NotAllowed`, `UserError` for a number that can't be one.
        """
        if not 0 <= limit.max_per_hour <= MAX_PER_HOUR:
            raise UserError(f"A limit is a number from 0 to {MAX_PER_HOUR:,}.")
        async with self._database.write() as session:
            found = await organised_board(session, actor, board)
            await limits.set_limit(session, found.id, limit)
            detail = {"category": limit.category.value, "max_per_hour": limit.max_per_hour}
            await audit.record(session, actor, "board.limit", f"board:{found.name}", detail)
        return limit

    async def remove(self, actor: User, board: str, category: LimitCategory) -> None:
        """Remove a limit. Raises `NotFound`, also if none is set, `NotAllowed`."""
        async with self._database.write() as session:
            found = await organised_board(session, actor, board)
            if not await limits.remove(session, found.id, category):
                raise NotFound(f"Board {found.name!r} has no limit on {category}.")
            detail = {"category": category.value, "max_per_hour": None}
            await audit.record(session, actor, "board.limit", f"board:{found.name}", detail)


async def count_submission(
    session: WriteSession, author: User, board: Destination, category: LimitCategory
) -> None:
    """Count one more towards the board's limit. Raises `TooManyRequests`."""
    max_per_hour = board.max_per_hour
    if max_per_hour is None:
        return
    what = "ranked" if category is LimitCategory.LEADERBOARD else "test, benchmark or profile"
    if max_per_hour == 0:
        raise TooManyRequests(
            f"Board {board.name!r} takes no {what} submissions just now: its limit is 0 an hour.",
            retry_after_s=HOUR_S,
            hint="Its organisers can allow them again.",
        )
    wait_s = await limits.use(session, board.id, author.id, category, max_per_hour)
    if wait_s is not None:
        wait_s = max(1.0, math.ceil(wait_s))
        raise TooManyRequests(
            f"Board {board.name!r} takes {max_per_hour} {what} submissions an hour "
            f"from each author.",
            retry_after_s=wait_s,
            hint=f"The next one is taken in {wait_text(wait_s)}.",
        )
