"""Measuring a board's best again."""

from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements

_PRIORITY = 1
"""The priority of a ranked run; `next_run` itself puts rejudges before all others."""


async def candidates(
    session: ReadSession, leaderboard_id: int, device: str, top: int | None
) -> list[int]:
    """The submission that each author is, or would be, ranked with; the best first."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "top": top}
    rows = await session.all(statements(__file__)["candidates"], values)
    return [row["submission_id"] for row in rows]


async def add(session: WriteSession, leaderboard_id: int, device: str) -> int | None:
    """Create a rejudge; None if another one is under way there."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements(__file__)["add"], values)
    return int(row["id"]) if row else None


async def add_run(session: WriteSession, rejudge_id: int, submission_id: int, device: str) -> int:
    """Add a queued run on secret data; returns its id."""
    values = {
        "submission_id": submission_id,
        "device": device,
        "priority": _PRIORITY,
        "rejudge_id": rejudge_id,
    }
    row = await session.one(statements(__file__)["add_run"], values)
    assert row is not None
    return int(row["id"])


async def lock(session: WriteSession, rejudge_id: int) -> None:
    """Until the transaction ends nothing else of it ends. Of what else the transaction locks, runs
    come before, submissions and rankings after."""
    await session.one(statements(__file__)["lock"], {"rejudge_id": rejudge_id})


async def ended(session: WriteSession, rejudge_id: int) -> None:
    """Record that one of its runs has ended; after the last one the ranking is updated."""
    sql = statements(__file__)
    values = {"rejudge_id": rejudge_id}
    await session.one(sql["lock"], values)
    if await session.one(sql["finish"], values) is not None:
        await session.do(sql["withdraw_refuted"], values)
        await session.all(sql["rank"], values)
        await session.all(sql["recount"], values)
        await session.one(sql["request_duels"], values)


async def was_lately(session: ReadSession, leaderboard_id: int, device: str) -> bool:
    """Whether a rejudge has begun there within the last hour."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements(__file__)["was_lately"], values)
    return bool(row and row["found"])


async def end(session: WriteSession, rejudge_id: int) -> bool:
    """End it before its time: its runs are stopped and deleted, and the ranking stays as it is.
    False: it has ended already."""
    sql = statements(__file__)
    values = {"rejudge_id": rejudge_id}
    await session.all(sql["lock_runs"], values)
    await session.one(sql["lock"], values)
    row = await session.one(sql["is_at_work"], values)
    if not (row and row["found"]):
        return False
    await session.all(sql["stop"], values)
    await session.do(sql["drop_runs"], values)
    return await session.one(sql["finish"], values) is not None


async def one(session: ReadSession, leaderboard_id: int, rejudge_id: int) -> Rejudge | None:
    sql = statements(__file__)
    values = {"rejudge_id": rejudge_id, "leaderboard_id": leaderboard_id}
    row = await session.one(sql["one"], values)
    if row is None:
        return None
    return from_row(Rejudge, {**row, "runs": await session.all(sql["runs"], values)})


async def of_board(session: ReadSession, leaderboard_id: int, limit: int) -> list[Rejudge]:
    """The board's latest, the newest first, each with its runs so far."""
    values = {"leaderboard_id": leaderboard_id, "limit": limit}
    rows = await session.all(statements(__file__)["of_board"], values)
    found = [await one(session, leaderboard_id, row["id"]) for row in rows]
    return [rejudge for rejudge in found if rejudge is not None]
