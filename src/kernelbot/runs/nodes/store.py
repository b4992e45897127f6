"""What a node may fetch of an attempt, and how much of its progress a node has told."""

from dataclasses import dataclass, replace

from kernelbot.boards import store as boards
from kernelbot.protocol import JobSpec, SourceFile
from kernelbot.runs.builds import store as builds
from kernelbot.runs.store import read_terms
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class LinkKey:
    """What signs links. `now_s`: the database's clock, in seconds since 1970."""

    key: bytes
    now_s: float


@dataclass(frozen=True)
class AttemptName:
    """An attempt, as its job's id names it."""

    run_id: int
    number: int


async def key(session: ReadSession) -> LinkKey:
    """The same for as long as the database is there."""
    row = await session.one(statements(__file__)["key"])
    assert row is not None, "the migration puts the one row there"
    return LinkKey(row["link_key"], row["now_s"])


async def job(session: ReadSession, attempt: AttemptName) -> JobSpec | None:
    """The job as it was launched, without products that were removed meanwhile; None if the attempt
    isn't open. Raises `PlatformError` if we can't read it."""
    row = await session.one(statements(__file__)["job"], _values(attempt))
    terms = read_terms(row["terms"]) if row else None
    if row is None or terms is None:
        return None
    definition = await boards.definition(session, row["problem_version_id"])
    opponent = None
    if row["opponent_code"] is not None:
        opponent = SourceFile(row["opponent_file_name"], row["opponent_code"])
    spec = terms.spec(definition.spec, SourceFile(row["file_name"], row["code"]), opponent)
    return replace(
        spec,
        product=await builds.product(session, terms.product_sha256),
        opponent_product=await builds.product(session, terms.opponent_product_sha256),
    )


async def events_received(session: WriteSession, attempt: AttemptName) -> int | None:
    """How many progress events came so far; None if the attempt isn't open."""
    row = await session.one(statements(__file__)["events_received"], _values(attempt))
    return None if row is None else int(row["events_received"])


async def receive_events(session: WriteSession, attempt: AttemptName, count: int) -> None:
    """Note how many events have come, all in all."""
    await session.do(statements(__file__)["receive_events"], {**_values(attempt), "count": count})


def _values(attempt: AttemptName) -> dict[str, int]:
    return {"run_id": attempt.run_id, "number": attempt.number}
