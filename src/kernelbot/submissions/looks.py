"""Looks at whether what a token's owner was shown is still true, by one statement each."""

from dataclasses import dataclass

from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.domain.moments import Moment
from kernelbot.runs.queue.model import QueueRules
from kernelbot.runs.queue.store import WaitingRun, asked, read_line
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Look:
    """An `OwnerLook` at a submission. `stamp` None: the moment lasts that was asked for. `line`: as
    `queue.waiting` returns it."""

    owner_id: int
    stamp: int | None
    line: WaitingRun | None
    moment: Moment


async def look(
    session: ReadSession,
    token_hash: bytes,
    submission_id: int,
    rules: QueueRules,
    *,
    fresh_s: float,
    moment: str | None,
) -> Look | None:
    """None: the token has ended, or isn't the author's. `moment`: only whether the token is valid
    is to be found if this snapshot lasts."""
    values = {
        "hash": token_hash,
        "submission_id": submission_id,
        "moment": moment,
        **asked(rules, fresh_s),
    }
    row = await session.one(statements(__file__)["look"], values)
    if row is None:
        return None
    line = read_line(row["line"])
    return Look(row["owner_id"], row["stamp"], line, Moment.now(row["moment"]))


async def look_at_page(
    session: ReadSession,
    token_hash: bytes,
    seen: OwnerLook | None,
    *,
    board: str | None,
    limit: int,
    before_id: int | None,
) -> OwnerLook | None:
    """None: the token has ended, or the page is empty. `seen`: what the same look found before,
    which is found again if its moment lasts."""
    moment = seen.moment.lasting if seen and seen.moment else None
    values = {
        "hash": token_hash,
        "moment": moment,
        "board": board,
        "limit": limit,
        "before_id": before_id,
    }
    row = await session.one(statements(__file__)["look_at_page"], values)
    if row is None:
        return None
    if seen is not None and row["moment"] == moment and row["owner_id"] == seen.owner_id:
        return seen
    if row["stamp"] is None:
        return None
    return OwnerLook(row["owner_id"], row["stamp"], Moment.now(row["moment"]))


async def page_stamp(
    session: ReadSession, author_id: int, *, board: str | None, limit: int, before_id: int | None
) -> int | None:
    """A page's `OwnerLook.stamp`; None: the page is empty."""
    values = {"author_id": author_id, "board": board, "limit": limit, "before_id": before_id}
    row = await session.one(statements(__file__)["page_stamp"], values)
    return row["stamp"] if row else None
