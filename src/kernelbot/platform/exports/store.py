"""Reading submissions for export, in batches."""

import secrets

from kernelbot.platform.exports.model import ExportRow, ExportRun
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements

_BATCH = 100
"""Submissions per batch; with the largest sources that is 100 MiB."""


async def key(session: WriteSession) -> bytes:
    """The database's own key for pseudonyms, created the first time."""
    sql = statements(__file__)
    await session.do(sql["add_key"], {"key": secrets.token_bytes(32)})
    row = await session.one(sql["key"])
    assert row is not None, "it was made a moment ago at the latest"
    return bytes(row["key"])


async def claim_daily(session: WriteSession) -> bool:
    """Whether the caller must make today's export; nobody else does for three hours, then."""
    return await session.one(statements(__file__)["claim_daily"]) is not None


async def daily_done(session: WriteSession) -> None:
    """Make the daily export due again in a day."""
    await session.do(statements(__file__)["daily_done"])


async def try_again(session: WriteSession) -> None:
    """Make the daily export due again in an hour."""
    await session.do(statements(__file__)["try_again"])


async def batch(
    session: ReadSession, board_ids: list[int], after_id: int
) -> tuple[list[ExportRow], int]:
    """The next batch of their submissions in order, and the number to continue after; an empty
    batch is the end."""
    sql = statements(__file__)
    values = {"ids": board_ids, "after_id": after_id, "limit": _BATCH}
    found = await session.all(sql["submissions"], values)
    runs: dict[int, list[ExportRun]] = {row["submission_id"]: [] for row in found}
    for row in await session.all(sql["runs"], {"submission_ids": list(runs)}):
        runs[row.pop("submission_id")].append(ExportRun(**row))
    rows = [ExportRow(**row, runs=tuple(runs[row["submission_id"]])) for row in found]
    return rows, rows[-1].submission_id if rows else after_id
