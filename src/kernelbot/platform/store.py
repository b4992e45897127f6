"""Whether the platform accepts submissions: one row, so that it survives every process."""

import psycopg

from kernelbot.platform.model import PlatformState
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def state(session: ReadSession) -> PlatformState:
    row = await session.one(statements(__file__)["state"])
    assert row is not None, "the migration puts the one row there"
    return from_row(PlatformState, row)


async def is_copy(session: ReadSession) -> bool:
    """Whether it is a restored copy that nobody has activated."""
    row = await session.one(statements(__file__)["is_copy"])
    return bool(row and row["is_copy"])


def mark(url: str, *, is_copy: bool) -> None:
    """Say whether the database at `url` is a copy. Blocks."""
    with psycopg.connect(url) as connection:
        connection.execute(statements(__file__)["set_copy"], {"is_copy": is_copy})


async def set_state(session: WriteSession, wanted: PlatformState) -> None:
    """Set the state, which applies from the commit on."""
    values = {"accepts_jobs": wanted.accepts_jobs, "reason": wanted.reason}
    await session.do(statements(__file__)["set"], values)
