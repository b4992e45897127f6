"""How many submissions an author may make to a board within an hour."""

from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def of_board(session: ReadSession, leaderboard_id: int) -> list[RateLimit]:
    rows = await session.all(statements(__file__)["of_board"], {"leaderboard_id": leaderboard_id})
    return [from_row(RateLimit, row) for row in rows]


async def set_limit(session: WriteSession, leaderboard_id: int, limit: RateLimit) -> None:
    """Set the limit, replacing an earlier one."""
    values = {
        "leaderboard_id": leaderboard_id,
        "category": limit.category,
        "max_per_hour": limit.max_per_hour,
    }
    await session.do(statements(__file__)["set"], values)


async def remove(session: WriteSession, leaderboard_id: int, category: LimitCategory) -> bool:
    """Remove the limit; returns whether there was one."""
    values = {"leaderboard_id": leaderboard_id, "category": category}
    return await session.do(statements(__file__)["remove"], values) == 1


async def use(
    session: WriteSession,
    leaderboard_id: int,
    author_id: int,
    category: LimitCategory,
    max_per_hour: int,
) -> float | None:
    """Count one more use; returns None. If it would exceed the limit it isn't counted: returns the
    seconds until one is allowed.

    Exact also with concurrent calls: they wait for each other until their transactions end.
    """
    values = {
        "leaderboard_id": leaderboard_id,
        "author_id": author_id,
        "category": category,
        "max_per_hour": max_per_hour,
    }
    row = await session.one(statements(__file__)["use"], values)
    return row["wait_s"] if row else None
