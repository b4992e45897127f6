"""Reads what rankings say of one author."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kernelbot.ranking.authors.model import ActiveDay
from kernelbot.ranking.model import BoardScore
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class AuthorRow:
    """An account, and whether its page is for nobody else."""

    id: int
    name: str
    page_is_private: bool


async def by_id(session: ReadSession, author_id: int) -> AuthorRow | None:
    row = await session.one(statements(__file__)["by_id"], {"author_id": author_id})
    return from_row(AuthorRow, row) if row else None


async def by_name(session: ReadSession, name: str) -> AuthorRow | None:
    """The account of that name, in upper or lower case."""
    row = await session.one(statements(__file__)["by_name"], {"name": name})
    return from_row(AuthorRow, row) if row else None


async def standings(
    session: ReadSession, author_id: int, board_ids: Sequence[int]
) -> list[BoardScore]:
    """The author's standings on these boards, without their ranks, the newest first."""
    values = {"author_id": author_id, "board_ids": list(board_ids)}
    rows = await session.all(statements(__file__)["standings"], values)
    return [from_row(BoardScore, row) for row in rows]


async def scores(
    session: ReadSession,
    author_id: int,
    board_ids: Sequence[int],
    *,
    limit: int,
    before_id: int | None,
) -> list[BoardScore]:
    """Scores that count on these boards, the newest first: so many, and the others of the last
    one's submission."""
    values = {
        "author_id": author_id,
        "board_ids": list(board_ids),
        "limit": limit,
        "before_id": before_id,
    }
    rows = await session.all(statements(__file__)["scores"], values)
    return [from_row(BoardScore, row) for row in rows]


async def days(
    session: ReadSession, author_id: int, board_ids: Sequence[int], since: datetime
) -> list[ActiveDay]:
    """The days since then on which the author submitted what counts on these boards."""
    values = {"author_id": author_id, "board_ids": list(board_ids), "since": since}
    rows = await session.all(statements(__file__)["days"], values)
    return [from_row(ActiveDay, row) for row in rows]
