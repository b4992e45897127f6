"""The keys that sign results, and what a signed document says beside the results."""

import base64

from kernelbot.attestations.model import ProblemVersionName, SigningKey
from kernelbot.protocol import RankRule
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def add_key(
    session: WriteSession, key_id: str, *, public_key: bytes, private_key: bytes
) -> None:
    """Store a key that signs from now on; does nothing if there is one already."""
    values = {"key_id": key_id, "public_key": public_key, "private_key": private_key}
    await session.do(statements(__file__)["add_key"], values)


async def private_key(session: ReadSession) -> bytes | None:
    """The one that signs; None if there is none."""
    row = await session.one(statements(__file__)["private_key"])
    return None if row is None else bytes(row["private_key"])


async def retire_key(session: WriteSession) -> None:
    """The key that signs doesn't any more: its private part is deleted."""
    await session.do(statements(__file__)["retire_key"])


async def keys(session: ReadSession) -> list[SigningKey]:
    """All that there have been, the newest first."""
    rows = await session.all(statements(__file__)["keys"])
    return [
        SigningKey(**{**row, "public_key": base64.b64encode(row["public_key"]).decode()})
        for row in rows
    ]


async def problem_versions(
    session: ReadSession, submission_id: int
) -> dict[int, ProblemVersionName]:
    """By run, what each finished run of the submission was judged by."""
    values = {"submission_id": submission_id}
    rows = await session.all(statements(__file__)["problem_versions"], values)
    return {
        row["run_id"]: ProblemVersionName(
            row["problem"],
            row["id"],
            bytes(row["content_hash"]),
            bytes(row["judging_hash"]),
            RankRule(row["ranking_by"]),
        )
        for row in rows
    }
