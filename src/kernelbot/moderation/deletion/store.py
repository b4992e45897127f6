"""Deletes submissions, boards and accounts."""

from dataclasses import asdict, dataclass

from kernelbot.accounts.model import Role
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Leaving:
    """An account that is about to be deleted, and what belongs to it."""

    name: str
    role: Role
    boards: tuple[str, ...]
    submission_ids: tuple[int, ...]


class CameMeanwhile(Exception):
    """A run or a duel of what is being deleted came after the others were locked, and somebody else
    may have it, and wait for what this has: undo the transaction, and begin again."""


@dataclass(frozen=True)
class _Locked:
    run_ids: list[int]
    duel_ids: list[int]


async def of_user(session: ReadSession, leaderboard_id: int, user_name: str) -> list[int]:
    values = {"leaderboard_id": leaderboard_id, "user_name": user_name}
    return [row["id"] for row in await session.all(statements(__file__)["of_user"], values)]


async def withdraw(session: WriteSession, submission_ids: list[int]) -> None:
    """Record that the author deletes or cancels these after seeing a score: the same code isn't
    ranked again."""
    await session.do(statements(__file__)["withdraw"], {"submission_ids": submission_ids})


async def delete_submissions(
    session: WriteSession, submission_ids: list[int], *, withdrawn: bool = False
) -> int:
    """Delete them with all that belongs to them; their runs are stopped, the ranking moves up.

    Returns how many there were. Sources that nobody else has submitted are deleted too.
    `withdrawn`: their author deletes them, so that the same source won't be ranked again. Nor will
    that of what is held or refused, whoever deletes it.
    Raises `CameMeanwhile`.
    """
    sql = statements(__file__)
    values = {"submission_ids": submission_ids}
    locked = await _lock_runs(session, submission_ids)
    if withdrawn:
        await withdraw(session, submission_ids)
    else:
        await session.do(sql["forget_withdrawn"], values)
    await session.do(sql["withdraw_refused"], values)
    again = await _stop(session, submission_ids, locked)
    await session.do(sql["drop_scores"], values)
    await session.all(sql["refresh_standings"], values)
    count = await _delete(session, submission_ids)
    for rejudge in again:
        await rejudges.ended(session, rejudge["id"])
    return count


async def lock_user(session: WriteSession, user_id: int) -> Leaving | None:
    """The account and what belongs to it, locked so that nothing can be added; None: no such
    account."""
    sql = statements(__file__)
    values = {"user_id": user_id}
    await session.all(sql["lock_runs_of"], values)
    user = await session.one(sql["lock_user"], values)
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
    """Delete the account, which must have no submissions left; its boards become the heir's."""
    sql = statements(__file__)
    values = {"user_id": user_id, "heir_id": heir_id}
    await session.do(sql["hand_over_boards"], values)
    await session.do(sql["delete_user"], values)


async def lock_board(session: WriteSession, leaderboard_id: int) -> bool:
    """From here on nothing comes to the board. False: somebody else has deleted it."""
    values = {"leaderboard_id": leaderboard_id}
    return await session.one(statements(__file__)["lock_board"], values) is not None


async def has_submissions(session: ReadSession, leaderboard_id: int) -> bool:
    """Whether anything was submitted there."""
    row = await session.one(
        statements(__file__)["has_submissions"], {"leaderboard_id": leaderboard_id}
    )
    return bool(row and row["found"])


async def delete_board(session: WriteSession, leaderboard_id: int) -> int:
    """Delete a board, which the caller has locked, with everything on it; returns how many
    submissions there were. Raises `CameMeanwhile`."""
    sql = statements(__file__)
    values = {"leaderboard_id": leaderboard_id}
    found = [row["id"] for row in await session.all(sql["of_board"], values)]
    await _stop(session, found, await _lock_runs(session, found))
    await session.do(sql["clear_standings"], values)
    await _delete(session, found)
    await session.do(sql["delete_board"], values)
    return len(found)


async def forget_expired(session: WriteSession) -> None:
    """Delete expired logins, uses that no limit counts any more, answers in chats that are done
    long since, and of a month ago: tokens that expired, and news that Discord was told."""
    sql = statements(__file__)
    forgotten = ("forget_logins", "forget_device_logins", "forget_uses", "forget_chat")
    for statement in (*forgotten, "forget_tokens", "forget_news"):
        await session.do(sql[statement])


async def _lock_runs(session: WriteSession, submission_ids: list[int]) -> _Locked:
    sql = statements(__file__)
    values = {"submission_ids": submission_ids}
    runs = await session.all(sql["lock_runs"], values)
    duels = await session.all(sql["lock_duels"], values)
    return _Locked([row["id"] for row in runs], [row["id"] for row in duels])


async def _stop(session: WriteSession, submission_ids: list[int], locked: _Locked) -> list[Row]:
    """Stop their runs, which the caller has locked, and lock submissions and rankings, so that
    nobody reviews or ranks them until the transaction ends; returns the rejudges that they are
    part of."""
    sql = statements(__file__)
    values = {"submission_ids": submission_ids}
    await session.do(sql["drop_runs"], {"run_ids": locked.run_ids})
    await session.all(sql["drop_attempts"], {"run_ids": locked.run_ids})
    again = await session.all(sql["lock_rejudges"], values)
    await session.all(sql["lock_submissions"], values)
    await session.all(sql["lock_rankings"], values)
    row = await session.one(sql["came_meanwhile"], {**values, **asdict(locked)})
    if row and row["found"]:
        raise CameMeanwhile
    return again


async def _delete(session: WriteSession, submission_ids: list[int]) -> int:
    sql = statements(__file__)
    gone = await session.all(sql["delete_submissions"], {"submission_ids": submission_ids})
    sources = {"sha256s": list({bytes(row["source_sha256"]) for row in gone})}
    # Locked first, so that the next statement sees a submission of the same text made meanwhile.
    await session.all(sql["lock_sources"], sources)
    await session.do(sql["delete_sources"], sources)
    return len(gone)
