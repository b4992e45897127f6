"""The ranking, as `refresh_standing` in the database keeps it."""

from dataclasses import dataclass

from kernelbot.domain.types import Standing
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements


async def page(
    session: ReadSession, leaderboard_id: int, device: str, *, limit: int, offset: int
) -> tuple[Standing, ...]:
    """A stretch of the ranking: one range scan of `standings_order`."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "limit": limit,
        "offset": offset,
    }
    return tuple(_standing(r) for r in await session.all(statements("standings")["page"], values))


@dataclass(frozen=True)
class Size:
    """How many have a standing. `version`: another whenever a page may have changed."""

    authors: int
    version: int


async def size(session: ReadSession, leaderboard_id: int, device: str) -> Size:
    """Of the ranking on a device; none where the device isn't offered."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements("standings")["size"], values)
    return Size(**row) if row else Size(0, 0)


async def submissions_of(
    session: ReadSession, leaderboard_id: int, device: str, author_id: int
) -> int:
    """How many of an author's submissions count there."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "author_id": author_id}
    row = await session.one(statements("standings")["submissions_of"], values)
    return int(row["submissions"]) if row else 0


async def refresh(session: WriteSession, leaderboard_id: int, device: str, author_id: int) -> None:
    """Bring one author's standing in line with his runs. Belongs into every transaction that
    writes or revokes a verdict."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "author_id": author_id}
    await session.one(statements("standings")["refresh"], values)


async def rebuild(session: WriteSession) -> None:
    """All standings again from the runs."""
    await session.one(statements("standings")["rebuild"])


def _standing(row: Row) -> Standing:
    low, high = row["ci_low_s"], row["ci_high_s"]
    return Standing(
        rank=row["rank"],
        author_id=row["author_id"],
        author=row["author"],
        score_s=row["score_s"],
        ci95_s=None if low is None else (low, high),
        submission_id=row["submission_id"],
        file_name=row["file_name"],
        achieved_at=row["achieved_at"],
        unverified=row["unverified"],
    )
