"""Deletes submissions, boards and accounts."""

from dataclasses import dataclass

from kernelbot.domain.types import Role
from kernelbot.store import rejudges
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Owner:
    """Whose a submission is, and whose board it is on."""

    author_id: int
    creator_id: int
    board: str


@dataclass(frozen=True)
class Leaving:
    """Who is deleted, and what is theirs."""

    name: str
    role: Role
    boards: tuple[str, ...]
    submission_ids: tuple[int, ...]


async def owner(session: ReadSession, submission_id: int) -> Owner | None:
    """None when there is no such submission."""
    row = await session.one(statements("deletion")["owner"], {"submission_id": submission_id})
    return Owner(**row) if row else None


async def of_user(session: ReadSession, leaderboard_id: int, user_name: str) -> list[int]:
    """The submissions of one person on a board."""
    values = {"leaderboard_id": leaderboard_id, "user_name": user_name}
    return [row["id"] for row in await session.all(statements("deletion")["of_user"], values)]


async def withdraw(session: WriteSession, submission_ids: list[int]) -> None:
    """Their author takes back what they have seen scores of: the same code isn't ranked again."""
    await session.do(statements("deletion")["withdraw"], {"submission_ids": submission_ids})


async def delete_submissions(
    session: WriteSession, submission_ids: list[int], *, withdrawn: bool = False
) -> int:
    """Delete them with all that hangs on them; what runs of them is stopped, the ranking moves up.

    Returns how many there were. Sources that nobody else has submitted go too. `withdrawn`: by
    their author, so that the same source again won't be ranked.
    """
    sql = statements("deletion")
    values = {"submission_ids": submission_ids}
    await session.all(sql["hold_runs"], values)
    if withdrawn:
        await withdraw(session, submission_ids)
    again = await _stop(session, submission_ids)
    await session.do(sql["drop_scores"], values)
    await session.all(sql["refresh_standings"], values)
    count = await _delete(session, submission_ids)
    for rejudge in again:
        await rejudges.ended(session, rejudge["id"])
    return count


async def hold_user(session: WriteSession, user_id: int) -> Leaving | None:
    """Who it is, and what is theirs, to which nothing is added any more; None: nobody."""
    sql = statements("deletion")
    values = {"user_id": user_id}
    await session.all(sql["hold_runs_of"], values)
    user = await session.one(sql["hold_user"], values)
    if user is None:
        return None
    boards = await session.all(sql["boards_of"], values)
    own = await session.all(sql["of_author"], values)
    return Leaving(
        user["name"],
        Role(user["role"]),
        tuple(row["name"] for row in boards),
        tuple(row["id"] for row in own),
    )


async def delete_user(session: WriteSession, user_id: int, *, heir_id: int) -> None:
    """Delete the account, whose submissions are gone; its boards become the heir's."""
    sql = statements("deletion")
    values = {"user_id": user_id, "heir_id": heir_id}
    await session.do(sql["hand_over_boards"], values)
    await session.do(sql["delete_user"], values)


async def has_submissions(session: ReadSession, leaderboard_id: int) -> bool:
    """Whether anything was submitted there."""
    row = await session.one(
        statements("deletion")["has_submissions"], {"leaderboard_id": leaderboard_id}
    )
    return bool(row and row["found"])


async def delete_board(session: WriteSession, leaderboard_id: int) -> int:
    """Delete a board with everything on it; returns how many submissions that were."""
    sql = statements("deletion")
    values = {"leaderboard_id": leaderboard_id}
    await session.one(sql["hold_board"], values)
    found = [row["id"] for row in await session.all(sql["of_board"], values)]
    await session.all(sql["hold_runs"], {"submission_ids": found})
    await _stop(session, found)
    await session.do(sql["clear_standings"], values)
    await _delete(session, found)
    await session.do(sql["delete_board"], values)
    return len(found)


async def forget_expired(session: WriteSession) -> None:
    """Delete logins whose time is over, uses that no limit counts, and tokens that ran out a
    month ago."""
    sql = statements("deletion")
    for statement in ("forget_logins", "forget_device_logins", "forget_uses", "forget_tokens"):
        await session.do(sql[statement])


async def _stop(session: WriteSession, submission_ids: list[int]) -> list[Row]:
    """Stop what runs of them, whose runs are held, and let nobody review or rank them until the
    transaction ends, after waiting for those who do; returns the rejudges that they are part of."""
    sql = statements("deletion")
    values = {"submission_ids": submission_ids}
    await session.do(sql["drop_runs"], values)
    await session.all(sql["drop_attempts"], values)
    again = await session.all(sql["hold_rejudges"], values)
    await session.all(sql["hold_submissions"], values)
    await session.all(sql["hold_rankings"], values)
    return again


async def _delete(session: WriteSession, submission_ids: list[int]) -> int:
    sql = statements("deletion")
    gone = await session.all(sql["delete_submissions"], {"submission_ids": submission_ids})
    sources = {"sha256s": list({bytes(row["source_sha256"]) for row in gone})}
    # Held first: the statement after sees whoever has submitted the same text meanwhile.
    await session.all(sql["hold_sources"], sources)
    await session.do(sql["delete_sources"], sources)
    return len(gone)
