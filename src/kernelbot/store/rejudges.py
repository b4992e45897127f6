"""Measuring a board's best again in one go."""

from kernelbot.domain.types import Rejudge, RejudgedRun
from kernelbot.protocol import Verdict
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements

_PRIORITY = 1
"""Of a ranked run; that they go before all others is `next_run`'s business."""


async def candidates(
    session: ReadSession, leaderboard_id: int, device: str, top: int | None
) -> list[int]:
    """The submissions that each author is ranked with, or would be; the best first."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "top": top}
    rows = await session.all(statements("rejudges")["candidates"], values)
    return [row["submission_id"] for row in rows]


async def add(session: WriteSession, leaderboard_id: int, device: str) -> int | None:
    """Begin; None where another one is at work there."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements("rejudges")["add"], values)
    return int(row["id"]) if row else None


async def add_run(session: WriteSession, rejudge_id: int, submission_id: int, device: str) -> int:
    """A queued run on the secret data; its id."""
    values = {
        "submission_id": submission_id,
        "device": device,
        "priority": _PRIORITY,
        "rejudge_id": rejudge_id,
    }
    row = await session.one(statements("rejudges")["add_run"], values)
    assert row is not None
    return int(row["id"])


async def ended(session: WriteSession, rejudge_id: int) -> None:
    """One of its runs has ended; after the last one the ranking follows."""
    sql = statements("rejudges")
    values = {"rejudge_id": rejudge_id}
    await session.one(sql["hold"], values)
    if await session.one(sql["finish"], values) is not None:
        await session.all(sql["rank"], values)
        await session.all(sql["recount"], values)


async def one(session: ReadSession, leaderboard_id: int, rejudge_id: int) -> Rejudge | None:
    """How far it is."""
    sql = statements("rejudges")
    values = {"rejudge_id": rejudge_id, "leaderboard_id": leaderboard_id}
    row = await session.one(sql["one"], values)
    if row is None:
        return None
    runs = tuple(
        RejudgedRun(**{**run, "verdict": Verdict(run["verdict"]) if run["verdict"] else None})
        for run in await session.all(sql["runs"], values)
    )
    return Rejudge(**row, runs=runs)
