"""Reading and updating boards for a sync."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.boards import store as boards
from kernelbot.boards.model import Board
from kernelbot.domain.errors import Conflict
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.locks import Lock
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class SyncedBoard:
    """A board before the sync. `competition` None: it was created by hand."""

    board: Board
    competition: str | None
    content_hash: bytes
    judging_hash: bytes
    named: tuple[str, ...]
    """The devices that its version of the problem names, here or not."""
    scores: int
    """How many scores are in its rankings."""


async def lock(session: WriteSession, names: list[str]) -> None:
    """Lock syncs and these boards until the transaction ends. Raises `Conflict` while another sync
    runs: whoever waited for it would hold a connection meanwhile."""
    sql = statements(__file__)
    row = await session.one(sql["lock"], {"lock": Lock.SYNC.value})
    if row is None or not row["locked"]:
        raise Conflict(
            "Another sync is running, so nothing was done.", hint="Sync again when it has ended."
        )
    await session.all(sql["lock_boards"], {"names": [name.lower() for name in names]})


async def board(session: ReadSession, name: str) -> SyncedBoard | None:
    found = await boards.by_name(session, name)
    if found is None:
        return None
    row = await session.one(statements(__file__)["board"], {"id": found.board.id})
    assert row is not None, "it was found a moment ago, and syncs lock it"
    hashes = {key: bytes(row[key]) for key in ("content_hash", "judging_hash")}
    return SyncedBoard(found.board, **{**row, **hashes, "named": tuple(row["named"])})


async def boards_of(session: ReadSession, competition: str) -> list[str]:
    """The names of the competition's boards; none for one that isn't there."""
    values = {"competition": competition}
    return [row["name"] for row in await session.all(statements(__file__)["boards_of"], values)]


async def competition(
    session: WriteSession, name: str, description: str, deadline: datetime | None
) -> int:
    """Create or update the competition; returns its id."""
    values = {"name": name, "description": description, "deadline": deadline}
    row = await session.one(statements(__file__)["competition"], values)
    assert row is not None
    return int(row["id"])


async def assign(
    session: WriteSession,
    leaderboard_id: int,
    competition_id: int,
    *,
    reveal_code: bool,
    fixed_seed: bool,
) -> None:
    values = {
        "leaderboard_id": leaderboard_id,
        "competition_id": competition_id,
        "reveal_code": reveal_code,
        "fixed_seed": fixed_seed,
    }
    await session.do(statements(__file__)["assign"], values)


async def lock_rankings(session: WriteSession, leaderboard_ids: list[int]) -> None:
    """Lock the rankings on all devices of these boards, and their authors' accounts before them.
    This comes before the first is updated: who waits for the update of one may have the ranking of
    another."""
    ids = {"leaderboard_ids": leaderboard_ids}
    for name in ("lock_authors", "lock_devices"):
        await session.all(statements(__file__)[name], ids)


async def update(
    session: WriteSession,
    leaderboard_id: int,
    *,
    problem_version_id: int,
    description: str,
    deadline: datetime | None,
    devices: tuple[str, ...],
) -> None:
    """Set problem, deadline and devices, and compute the ranking again, which the caller has locked
    by `lock_rankings`. What was measured on a device that isn't offered any more stays, for when it
    is again."""
    sql = statements(__file__)
    board_id = {"leaderboard_id": leaderboard_id}
    values = {
        "problem_version_id": problem_version_id,
        "description": description,
        "deadline": deadline,
    }
    await session.do(sql["update"], board_id | values)
    offered = {**board_id, "devices": list(devices)}
    await session.do(sql["drop_duels"], offered)
    await session.do(sql["drop_devices"], offered)
    places = [
        {**board_id, "device": device, "position": position}
        for position, device in enumerate(devices)
    ]
    await session.do_each(sql["put_device"], places)
    await session.one(sql["rebuild"], board_id)
