"""Invites: codes that open boards, each for one person."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.boards.invites.model import Invite
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class InvitedBoard:
    """A board that an invite opens, and who claimed the invite (None: nobody, or a deleted
    account)."""

    id: int
    name: str
    creator_id: int
    user_id: int | None


async def add(
    session: WriteSession, created_by: int, board_ids: Sequence[int], codes: Sequence[str]
) -> bool:
    """Store one invite for each code, all for the same boards; False: they are there already."""
    sql = statements(__file__)
    batch = await session.one(sql["add_batch"], {"created_by": created_by})
    assert batch is not None
    values = {"batch_id": batch["id"], "leaderboard_ids": list(board_ids), "codes": list(codes)}
    await session.do(sql["add_boards"], values)
    if await session.do(sql["add_codes"], values):
        return True
    await session.do(sql["remove_batch"], values)
    return False


async def of_board(
    session: ReadSession,
    board_id: int,
    *,
    viewer_id: int,
    everything: bool,
    unclaimed: bool,
    limit: int,
    offset: int,
) -> list[Invite]:
    """The invites that open the board, the newest first, as they are for the viewer, who organises
    the boards that they created, or `everything`; `unclaimed`: only those that nobody claimed."""
    values = {
        "leaderboard_id": board_id,
        "viewer_id": viewer_id,
        "everything": everything,
        "unclaimed": unclaimed,
        "limit": limit,
        "offset": offset,
    }
    rows = await session.all(statements(__file__)["of_board"], values)
    return [from_row(Invite, row) for row in rows]


async def claim(session: WriteSession, code: str, user_id: int) -> bool:
    """Claim the invite for this person; False if there is none or it was claimed already."""
    values = {"code": code, "user_id": user_id}
    return await session.do(statements(__file__)["claim"], values) == 1


async def boards(session: ReadSession, code: str) -> list[InvitedBoard]:
    """The boards it opens; none for an unknown code."""
    rows = await session.all(statements(__file__)["boards"], {"code": code})
    return [from_row(InvitedBoard, row) for row in rows]


async def revoke(session: WriteSession, code: str) -> bool | None:
    """Delete it and the membership; returns whether it was claimed, None: there is none."""
    row = await session.one(statements(__file__)["revoke"], {"code": code})
    return bool(row["was_claimed"]) if row else None
