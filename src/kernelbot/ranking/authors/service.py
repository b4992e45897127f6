"""Authors' pages. All that is on them is elsewhere as well: in rankings and trends of boards."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cachetools import TTLCache

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin
from kernelbot.boards.model import OwnedBoard
from kernelbot.boards.rules import has_ended
from kernelbot.boards.service import visible_boards
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.next_steps import Next
from kernelbot.domain.values import from_fields
from kernelbot.ranking.authors import store as authors
from kernelbot.ranking.authors.model import (
    ActiveDay,
    Author,
    AuthorScore,
    AuthorScores,
    AuthorStanding,
)
from kernelbot.ranking.authors.store import AuthorRow
from kernelbot.ranking.model import BoardScore
from kernelbot.ranking.places import RankCache
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions.code_visibility import may_read_code
from kernelbot.submissions.model import BestSubmission, Rank

CALENDAR = timedelta(weeks=53)
SCORES = 50
_CALENDARS = 256
_CALENDAR_S = 60.0
"""For so long an author's days aren't counted again: all runs of a year are looked at for them."""


@dataclass(frozen=True)
class _Found:
    """An author whose page is for the viewer, with the boards that the viewer may see, by id."""

    row: AuthorRow
    boards: Mapping[int, OwnedBoard]
    standings: tuple[BoardScore, ...]


class Authors:
    """A page is there for who may see one of its author's standings, unless the author keeps it
    private; always for the author and for admins."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: in seconds."""
        self._database = database
        self._places = RankCache()
        self._days = TTLCache[tuple[int, frozenset[int]], tuple[ActiveDay, ...]](
            _CALENDARS, _CALENDAR_S, clock
        )
        """By authors and the boards that the viewer may see."""

    async def get(
        self,
        viewer: User | None,
        author_id: int,
        *,
        limit: int = SCORES,
        before_id: int | None = None,
    ) -> Author:
        """The author as the viewer may see them; the days may be a minute old. `before_id`: scores
        of earlier submissions alone.

        Raises `NotFound`, by which nobody learns whether there is such an account.
        """
        async with self._database.read() as session:
            found = await _visible(session, viewer, author_id)
            now = datetime.now(UTC)
            return Author(
                id=found.row.id,
                name=found.row.name,
                private=found.row.page_is_private,
                standings=await self._ranked(session, viewer, found, now),
                days=await self._active_days(session, found, now),
                history=await _scores(session, viewer, found, limit=limit, before_id=before_id),
            )

    async def named(self, viewer: User | None, name: str) -> int:
        """The number of the author of that name, in upper or lower case. Raises as `get`."""
        async with self._database.read() as session:
            row = await authors.by_name(session, name) if "\x00" not in name else None
            if row is None:
                raise _no_page()
            return (await _visible(session, viewer, row.id)).row.id

    async def page_id(self, author_id: int) -> int | None:
        """The number by which an account's page is found; None: it is private, or there is no such
        account."""
        async with self._database.read() as session:
            row = await authors.by_id(session, author_id)
        return None if row is None or row.page_is_private else row.id

    async def scores(self, viewer: User | None, author_id: int, *, limit: int) -> Author:
        """The author with the newest scores alone. Raises as `get`."""
        async with self._database.read() as session:
            found = await _visible(session, viewer, author_id)
            history = await _scores(session, viewer, found, limit=limit, before_id=None)
        row = found.row
        return Author(row.id, row.name, row.page_is_private, (), (), history)

    async def _active_days(
        self, session: ReadSession, found: _Found, now: datetime
    ) -> tuple[ActiveDay, ...]:
        key = found.row.id, frozenset(found.boards)
        days = self._days.get(key)
        if days is None:
            counted = await authors.days(session, found.row.id, list(found.boards), now - CALENDAR)
            days = self._days[key] = tuple(counted)
        return days

    async def _ranked(
        self, session: ReadSession, viewer: User | None, found: _Found, now: datetime
    ) -> tuple[AuthorStanding, ...]:
        bests = {
            (row.leaderboard_id, row.device): BestSubmission(
                row.submission_id, row.leaderboard_id, row.device, found.row.id, size.version
            )
            for row in found.standings
            if (size := found.boards[row.leaderboard_id].rankings.get(row.device))
        }
        places = await self._places.get_ranked(session, list(bests.values()))
        ranks = {(place.submission_id, place.device): place.rank for place in places}
        return tuple(
            _standing(viewer, found, row, ranks[row.submission_id, row.device], now)
            for row in found.standings
            if (row.submission_id, row.device) in ranks
        )


async def _visible(session: ReadSession, viewer: User | None, author_id: int) -> _Found:
    """Raises `NotFound`."""
    row = await authors.by_id(session, author_id) if can_be_id(author_id) else None
    if row is None:
        raise _no_page()
    boards = {one.board.id: one for one in await visible_boards(session, viewer)}
    standings = await authors.standings(session, author_id, list(boards))
    is_own = is_admin(viewer) or (viewer is not None and viewer.id == author_id)
    if not is_own and (row.page_is_private or not standings):
        raise _no_page()
    return _Found(row, boards, tuple(standings))


async def _scores(
    session: ReadSession, viewer: User | None, found: _Found, *, limit: int, before_id: int | None
) -> AuthorScores:
    rows = await authors.scores(
        session, found.row.id, list(found.boards), limit=limit, before_id=before_id
    )
    now = datetime.now(UTC)
    scores = tuple(
        from_fields(
            AuthorScore,
            row,
            board=found.boards[row.leaderboard_id].board.name,
            code_is_shown=_may_read(viewer, found, row.leaderboard_id, now),
        )
        for row in rows
    )
    return AuthorScores(scores, rows[-1].submission_id if len(rows) >= limit else None)


def _standing(
    viewer: User | None, found: _Found, row: BoardScore, rank: Rank, now: datetime
) -> AuthorStanding:
    visible = found.boards[row.leaderboard_id]
    return from_fields(
        AuthorStanding,
        row,
        board=visible.board.name,
        rank=rank.number,
        shared=rank.shared,
        authors=visible.rankings[row.device].authors,
        ended=has_ended(visible.board.deadline, now),
        code_is_shown=_may_read(viewer, found, row.leaderboard_id, now),
    )


def _may_read(viewer: User | None, found: _Found, board_id: int, now: datetime) -> bool:
    """Whether the viewer, who sees the board, may read the author's code there."""
    seen = found.boards[board_id]
    return may_read_code(viewer, seen.board, seen.creator_id, now, author_id=found.row.id)


def _no_page() -> NotFound:
    return NotFound(
        "There is no such author's page: nobody has that number or name, they are on no board that "
        "you can see, or they keep their page private.",
        next_step=Next.LIST_BOARDS,
    )
