"""Who follows what."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.ranking.following.model import FollowedAuthor
from kernelbot.ranking.model import BoardScore
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Followed:
    """Ids of what a person follows."""

    boards: frozenset[int]
    authors: frozenset[int]

    def __len__(self) -> int:
        return len(self.boards) + len(self.authors)


async def lock(session: WriteSession, follower_id: int) -> None:
    """Until the transaction ends the person follows nothing more by another one."""
    await session.one(statements(__file__)["lock"], {"follower_id": follower_id})


async def follow_board(session: WriteSession, follower_id: int, leaderboard_id: int) -> None:
    """Follow a board from now on, also if it is followed already."""
    values = {"follower_id": follower_id, "leaderboard_id": leaderboard_id}
    await session.do(statements(__file__)["follow_board"], values)


async def unfollow_board(session: WriteSession, follower_id: int, board: str) -> bool:
    """Follow the board of that name no longer. False: it wasn't followed."""
    values = {"follower_id": follower_id, "board": board}
    return await session.do(statements(__file__)["unfollow_board"], values) == 1


async def follow_author(session: WriteSession, follower_id: int, author_id: int) -> None:
    """Follow an author from now on, also if they are followed already."""
    values = {"follower_id": follower_id, "author_id": author_id}
    await session.do(statements(__file__)["follow_author"], values)


async def unfollow_author(session: WriteSession, follower_id: int, author_id: int) -> None:
    """Follow an author no longer, also if they aren't followed."""
    values = {"follower_id": follower_id, "author_id": author_id}
    await session.do(statements(__file__)["unfollow_author"], values)


async def followed(session: ReadSession, follower_id: int) -> Followed:
    """All that the person follows, whether they may see it or not."""
    rows = await session.all(statements(__file__)["followed"], {"follower_id": follower_id})
    return Followed(
        frozenset(row["leaderboard_id"] for row in rows if row["leaderboard_id"]),
        frozenset(row["author_id"] for row in rows if row["author_id"]),
    )


async def visible_authors(
    session: ReadSession, author_ids: Sequence[int], board_ids: Sequence[int]
) -> list[FollowedAuthor]:
    """The authors among these whose pages are there for who sees these boards, by name."""
    values = {"author_ids": list(author_ids), "board_ids": list(board_ids)}
    rows = await session.all(statements(__file__)["visible_authors"], values)
    return [from_row(FollowedAuthor, row) for row in rows]


async def scores(
    session: ReadSession, author_ids: Sequence[int], board_ids: Sequence[int], *, limit: int
) -> list[BoardScore]:
    """The latest scores of these authors that count on these boards, the newest first."""
    values = {"author_ids": list(author_ids), "board_ids": list(board_ids), "limit": limit}
    rows = await session.all(statements(__file__)["scores"], values)
    return [from_row(BoardScore, row) for row in rows]
