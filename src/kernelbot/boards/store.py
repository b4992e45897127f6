"""Problems, their versions, and leaderboards."""

import json
import secrets
from collections.abc import Collection
from datetime import datetime

from kernelbot.boards.first_sentence import first_sentence
from kernelbot.boards.model import (
    Board,
    OwnedBoard,
    ProblemDefinition,
    ProblemSummary,
    RankingSize,
    Visibility,
)
from kernelbot.boards.problem_hashes import ProblemHashes, definition_to_wire
from kernelbot.domain.errors import PlatformError
from kernelbot.protocol import from_wire
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.jsontext import clean
from kernelbot.store.sqlfiles import statements

_LONGEST_SAID = 1000
"""Characters that are kept of what a judge says of a problem."""


async def add_version(
    session: WriteSession, definition: ProblemDefinition, content_hash: bytes, judging_hash: bytes
) -> int:
    """The id of the problem's version with this content, created if it is new.

    `judging_hash` covers what judging depends on: scores of versions with the same hash can be
    compared.
    """
    sql = statements(__file__)
    problem = await session.one(sql["add_problem"], {"name": definition.spec.name})
    assert problem is not None
    row = await session.one(
        sql["add_version"],
        {
            "problem_id": problem["id"],
            "content_hash": content_hash,
            "judging_hash": judging_hash,
            "definition": json.dumps(definition_to_wire(definition), ensure_ascii=False),
            "harness": definition.spec.harness,
            "ranking_by": definition.spec.ranking_by,
        },
    )
    assert row is not None
    return int(row["id"])


async def note_recurring_data(session: WriteSession, run_id: int, said: str) -> None:
    """Keep what was said of the data of the problem that a submission's run was judged by, unless
    something was said before; from then on nothing is ranked with what is judged alike."""
    values = {"run_id": run_id, "said": clean(said[:_LONGEST_SAID])}
    await session.do(statements(__file__)["note_recurring_data"], values)


async def create(
    session: WriteSession,
    definition: ProblemDefinition,
    hashes: ProblemHashes,
    *,
    name: str,
    creator_id: int,
    visibility: Visibility,
    deadline: datetime | None,
    devices: tuple[str, ...],
) -> int | None:
    """Create a board of the problem; returns its id, None if the name is taken."""
    sql = statements(__file__)
    values = {
        "name": name,
        "description": definition.description,
        "problem_version_id": await add_version(session, definition, *hashes),
        "visibility": visibility,
        "deadline": deadline,
        "creator_id": creator_id,
        "secret": secrets.token_bytes(32),
    }
    row = await session.one(sql["create"], values)
    if row is None:
        return None
    places = [
        {"leaderboard_id": row["id"], "device": device, "position": position}
        for position, device in enumerate(devices)
    ]
    await session.do_each(sql["add_device"], places)
    return int(row["id"])


async def all_boards(session: ReadSession, *, viewer_id: int | None) -> list[OwnedBoard]:
    """Every board, newest first, without a check of who may see it."""
    rows = await session.all(statements(__file__)["all"], {"viewer_id": viewer_id})
    return [_owned(row) for row in rows]


async def hidden_in(session: ReadSession, guild_id: int) -> set[int]:
    """The ids of boards that aren't of the competition that a guild is about."""
    rows = await session.all(statements(__file__)["hidden_in"], {"guild_id": guild_id})
    return {row["id"] for row in rows}


async def by_name(
    session: ReadSession, name: str, *, viewer_id: int | None = None
) -> OwnedBoard | None:
    """The board of that name, in upper or lower case, without a check of who may see it."""
    values = {"name": name, "viewer_id": viewer_id}
    row = await session.one(statements(__file__)["by_name"], values)
    return None if row is None else _owned(row)


async def lock(session: WriteSession, leaderboard_id: int) -> None:
    """From here on nobody else changes the board until the transaction ends."""
    await session.one(statements(__file__)["lock"], {"id": leaderboard_id})


async def edit(session: WriteSession, after: Board) -> None:
    """Store of `after` what a board's organisers may change."""
    await session.do(statements(__file__)["edit"], vars(after))


async def devices_for_torch(session: ReadSession) -> frozenset[str]:
    """The devices whose open boards' problems mention torch, or what comes with it."""
    rows = await session.all(statements(__file__)["devices_for_torch"])
    return frozenset(row["device"] for row in rows)


async def definition(session: ReadSession, problem_version_id: int) -> ProblemDefinition:
    """The problem as its author wrote it. Raises `PlatformError` if we can't read it."""
    row = await session.one(
        statements(__file__)["definition"], {"problem_version_id": problem_version_id}
    )
    assert row is not None, "boards and submissions refer to versions that exist"
    try:
        return from_wire(ProblemDefinition, row["definition"])
    except ValueError as error:  # `WireError`, `VersionMismatch`
        raise PlatformError(f"The stored problem can't be read: {error}") from error


async def summaries(
    session: ReadSession, problem_version_ids: Collection[int]
) -> dict[int, ProblemSummary]:
    """What lists say of these versions, by their ids."""
    values = {"ids": list(problem_version_ids)}
    rows = await session.all(statements(__file__)["summaries"], values)
    return {row["id"]: _summary(row) for row in rows}


def _summary(row: Row) -> ProblemSummary:
    sentence = row["summary"] or first_sentence(row["description"])
    return from_row(ProblemSummary, {**row, "sentence": sentence, "tags": row["tags"] or ()})


def _owned(row: Row) -> OwnedBoard:
    columns = zip(row["devices"], row["authors"], row["versions"], strict=True)
    rankings = {device: RankingSize(authors, version) for device, authors, version in columns}
    board = from_row(Board, {**row, "problem": row["problem_name"]})
    return OwnedBoard(board, row["creator_id"], row["invited"], rankings)
