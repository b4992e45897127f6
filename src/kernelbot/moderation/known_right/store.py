"""What is known to be right of a board's problem: which files, and how long they take."""

import hashlib
from collections.abc import Sequence

from kernelbot.moderation.reviews.model import CheckedScore
from kernelbot.protocol import SourceFile
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def was_requested(session: ReadSession, leaderboard_id: int, device: str) -> bool:
    """Whether the files of the board's problem, as it is judged now, were asked for on a device."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements(__file__)["was_requested"], values)
    return row is not None and bool(row["requested"])


async def version(session: ReadSession, leaderboard_id: int) -> int:
    """The board's version of its problem."""
    row = await session.one(statements(__file__)["version"], {"leaderboard_id": leaderboard_id})
    assert row is not None, "runs are of boards that exist"
    return int(row["problem_version_id"])


async def request(
    session: WriteSession,
    leaderboard_id: int,
    device: str,
    problem_version_id: int,
    files: Sequence[SourceFile],
) -> None:
    """Ask that these are judged once on the device. Their names are for people."""
    sql = statements(__file__)
    for file in files:
        values = {
            "leaderboard_id": leaderboard_id,
            "device": device,
            "problem_version_id": problem_version_id,
            "name": file.name,
            "content": file.text,
            "source_sha256": hashlib.sha256(file.text.encode()).digest(),
        }
        await session.do(sql["add_source"], values)
        await session.do(sql["add"], values)
    if files:
        await session.one(sql["announce"], {"device": device})


async def enqueue(session: WriteSession, device: str) -> bool:
    """Put the first of the device that isn't in the queue into it; whether there was one."""
    return await session.one(statements(__file__)["enqueue"], {"device": device}) is not None


async def ended(session: WriteSession, run_id: int, score_s: float | None) -> None:
    """What the run was of was judged. `score_s` None: it wasn't accepted, or couldn't be judged."""
    values = {"run_id": run_id, "score_s": score_s}
    await session.do(statements(__file__)["ended"], values)


async def unreviewed(session: ReadSession, leaderboard_id: int, device: str) -> CheckedScore | None:
    """Who stands first of those that nobody has looked at; None: nobody does."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    row = await session.one(statements(__file__)["unreviewed"], values)
    return None if row is None else CheckedScore(**row)


async def unreviewed_below(
    session: ReadSession, leaderboard_id: int, device: str, below_s: float
) -> list[int]:
    """The submissions that could stand with a score below this one, and that nobody has looked
    at."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "below_s": below_s}
    rows = await session.all(statements(__file__)["unreviewed_below"], values)
    return [row["submission_id"] for row in rows]
