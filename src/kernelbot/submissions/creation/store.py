"""Creates a submission: one call reads all that decides about it, one call adds all rows."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

import psycopg

from kernelbot.boards.limits.model import LimitCategory
from kernelbot.boards.model import Destination
from kernelbot.platform.model import PlatformState
from kernelbot.protocol import Mode
from kernelbot.runs.queue.model import QueueRules
from kernelbot.runs.queue.store import WaitingRun, asked, read_line
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class NewRow:
    leaderboard_id: int
    problem_version_id: int
    author_id: int
    file_name: str
    mode: Mode
    code: str
    devices: tuple[str, ...]
    code_sha256: bytes | None
    """Its `code_digest`; None: nobody asked for it yet."""


@dataclass(frozen=True)
class AddedRun:
    """A run of a submission that was just added; all of them wait."""

    submission_id: int
    id: int
    device: str
    secret: bool
    created_at: datetime


class TooManyWait(Exception):
    """More of the author's runs would wait for the device than may."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.device = device


async def load_board_for_submit(
    session: ReadSession, name: str, author_id: int, category: LimitCategory
) -> tuple[PlatformState, Destination | None]:
    """Whether submissions are accepted at all, and the board of that name, in upper or lower
    case."""
    values = {"name": name, "author_id": author_id, "category": category}
    row = await session.one(statements(__file__)["facts"], values)
    assert row is not None, "the migration puts the platform's one row there"
    state = PlatformState(row["accepts_jobs"], row["reason"])
    return state, None if row["id"] is None else from_row(Destination, row)


async def add_submission(
    session: WriteSession, new: NewRow, rules: QueueRules, *, fresh_s: float
) -> tuple[list[AddedRun], WaitingRun | None]:
    """Store source and submission with its runs, also those on secret data if it is ranked, and
    their first events; returns the runs, and what `queue.waiting` returns. One statement, so it may
    be a transaction by itself. Raises `TooManyWait`; then a transaction can go no further."""
    values = {
        **vars(new),
        "source_sha256": hashlib.sha256(new.code.encode()).digest(),
        "devices": list(new.devices),
        "waiting_limit": rules.waiting_limit,
        **asked(rules, fresh_s),
    }
    try:
        rows = await session.all(statements(__file__)["add"], values)
    except psycopg.errors.RaiseException as error:
        raise TooManyWait(error.diag.message_detail or "") from None
    if rows[0]["id"] is None:
        raise TooManyWait(rows[0]["device"])
    lines = [row.pop("line") for row in rows]
    return [AddedRun(**row) for row in rows], read_line(lines[0])
