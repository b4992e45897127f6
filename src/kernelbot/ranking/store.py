"""The ranking, which `refresh_standing` in the database keeps up to date."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.ranking.model import Bests, ComparedScores, Record, Score, Standing
from kernelbot.schemas.values import from_row, from_rows
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements
from kernelbot.submissions.model import Rank

NAMES_AMONG = 2_000
"""How many of the best are looked at for a name, in some milliseconds."""


@dataclass(frozen=True)
class Mark:
    """A row of a ranking from which others can be counted. `position`: how many are before it."""

    position: int
    row: Standing | None
    """None: the top, which is before all rows."""


TOP = Mark(0, None)


@dataclass(frozen=True)
class Rows:
    """Rows of a ranking, and its version when they were read; None if there are no rows."""

    rows: tuple[Standing, ...]
    version: int | None


async def page(
    session: ReadSession,
    leaderboard_id: int,
    device: str,
    *,
    limit: int,
    offset: int,
    start: Mark = TOP,
) -> Rows:
    """A page of the ranking: one range scan of `standings_order`, which skips only the rows
    between `start` and `offset`. Correct for the version at which `start` was marked."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "limit": limit,
        "position": start.position,
        "score_s": start.row.score_s if start.row else -math.inf,
        "achieved_at": start.row.achieved_at if start.row else None,
        "author_id": start.row.author_id if start.row else 0,
        "skip": offset - start.position,
    }
    found = await session.all(statements(__file__)["page"], values)
    version = found[0]["version"] if found else None
    return Rows(await from_rows(Standing, found), version)


async def look(session: ReadSession, token_hash: bytes, board: str) -> OwnerLook | None:
    """None: the token has ended, or no public board has the name."""
    row = await session.one(statements(__file__)["look"], {"hash": token_hash, "board": board})
    return OwnerLook(**row) if row else None


async def stamp(session: ReadSession, board: str) -> int | None:
    """A board's `OwnerLook.stamp`; None: no public board has the name."""
    row = await session.one(statements(__file__)["stamp"], {"board": board})
    return row["stamp"] if row else None


async def submissions_of(
    session: ReadSession, leaderboard_id: int, device: str, author_id: int
) -> int:
    """How many of an author's submissions count there."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "author_id": author_id}
    row = await session.one(statements(__file__)["submissions_of"], values)
    return int(row["submissions"]) if row else 0


async def compared(
    session: ReadSession, leaderboard_id: int, device: str, *, author_id: int, submission_id: int
) -> ComparedScores | None:
    """The author's best before the submission, and the leader's; None: the board doesn't offer the
    device."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "author_id": author_id,
        "submission_id": submission_id,
    }
    row = await session.one(statements(__file__)["compared"], values)
    return from_row(ComparedScores, row) if row else None


async def bests(
    session: ReadSession, leaderboard_id: int, device: str, *, author_id: int, submission_id: int
) -> Bests:
    """The best of the author's other submissions there, and the first of the ranking."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "author_id": author_id,
        "submission_id": submission_id,
    }
    rows = await session.all(statements(__file__)["bests"], values)
    found = {row["leads"]: from_row(Score, row) for row in rows}
    return Bests(own=found.get(False), leader=found.get(True))


async def records(session: ReadSession, leaderboard_id: int, device: str) -> tuple[Score, ...]:
    """The scores that were the best of all when they were submitted, the first one first."""
    values = {"leaderboard_id": leaderboard_id, "device": device}
    rows = await session.all(statements(__file__)["records"], values)
    return tuple(from_row(Score, row) for row in rows)


async def scores(
    session: ReadSession, leaderboard_id: int, device: str, *, author_id: int, limit: int
) -> tuple[Score, ...]:
    """An author's scores that count, in the order of submitting; only the latest `limit`."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "author_id": author_id,
        "limit": limit,
    }
    rows = await session.all(statements(__file__)["scores"], values)
    return tuple(from_row(Score, row) for row in rows)


async def leaders(
    session: ReadSession, leaderboard_ids: Sequence[int], *, limit: int
) -> tuple[Record, ...]:
    """The first of each ranking of these boards; only the newest `limit`, the newest first."""
    values = {"leaderboard_ids": list(leaderboard_ids), "limit": limit}
    rows = await session.all(statements(__file__)["leaders"], values)
    return tuple(Record(row["board"], row["device"], from_row(Score, row)) for row in rows)


async def submitted_lately(session: ReadSession, *, most: int) -> dict[int, int]:
    """How many of the latest `most` submissions came within 24 hours, by the board's id."""
    rows = await session.all(statements(__file__)["submitted_lately"], {"most": most})
    return {row["leaderboard_id"]: row["submissions"] for row in rows}


async def ranked_authors(
    session: ReadSession, leaderboard_id: int, device: str, names: Sequence[str]
) -> dict[int, str]:
    """The authors among the names, in upper or lower case, who are ranked there: by id, as they
    write themselves."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "names": [name.lower() for name in names if "\x00" not in name],
    }
    rows = await session.all(statements(__file__)["ranked_authors"], values)
    return {row["id"]: row["name"] for row in rows}


async def names_beginning(
    session: ReadSession,
    leaderboard_id: int,
    device: str,
    beginning: str,
    *,
    limit: int,
    among: int = NAMES_AMONG,
) -> tuple[str, ...]:
    """Names that begin so, in upper or lower case, of the best `among` who are ranked there, the
    best first."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "beginning": beginning.lower(),
        "limit": limit,
        "among": among,
    }
    rows = await session.all(statements(__file__)["names_beginning"], values)
    return tuple(row["name"] for row in rows)


async def refresh(session: WriteSession, leaderboard_id: int, device: str, author_id: int) -> None:
    """Update one author's standing from their runs. Call it in every transaction that writes or
    revokes a verdict."""
    values = {"leaderboard_id": leaderboard_id, "device": device, "author_id": author_id}
    await session.one(statements(__file__)["refresh"], values)


async def rebuild(session: WriteSession) -> None:
    """Compute all standings again from the runs."""
    await session.one(statements(__file__)["rebuild"])


async def ranks(
    session: ReadSession, keys: list[tuple[int, str, int]]
) -> dict[tuple[int, str, int], Rank | None]:
    """The rank by board, device and author; None without a standing."""
    boards, devices, authors = (list(column) for column in zip(*keys, strict=True))
    values = {"leaderboard_ids": boards, "devices": devices, "author_ids": authors}
    rows = await session.all(statements(__file__)["ranks"], values)
    return {
        (row["leaderboard_id"], row["device"], row["author_id"]): (
            None if row["rank"] is None else Rank(row["rank"], row["shared"])
        )
        for row in rows
    }
