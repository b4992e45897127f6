"""Reviews: why a submission is held, the evidence, and what an organiser decided."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from enum import StrEnum

from kernelbot.domain.states import ReviewState
from kernelbot.moderation.reviews.model import CheckedScore, Evidence
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.jsontext import clean
from kernelbot.store.sqlfiles import statements


class TrustSource(StrEnum):
    KNOWN_RIGHT = "known_right"
    REVIEWED = "reviewed"
    OTHERS = "others"


async def lock(session: WriteSession, submission_id: int) -> ReviewState | None:
    """The submission's review, which nobody else can change until the transaction ends; None: there
    is no such submission."""
    row = await session.one(statements(__file__)["lock"], {"submission_id": submission_id})
    return ReviewState(row["review"]) if row else None


async def lock_submissions(session: WriteSession, submission_ids: Sequence[int]) -> None:
    """Until the transaction ends nobody else reviews these."""
    values = {"submission_ids": list(submission_ids)}
    await session.all(statements(__file__)["lock_submissions"], values)


async def lock_rankings(
    session: WriteSession, leaderboard_id: int, device: str, submission_ids: Sequence[int]
) -> None:
    """Lock the ranking on the device, and the others that change if one of these submissions of the
    board is held."""
    values = {
        "leaderboard_id": leaderboard_id,
        "device": device,
        "submission_ids": list(submission_ids),
    }
    await session.all(statements(__file__)["lock_rankings"], values)


async def decide(
    session: WriteSession, submission_id: int, review: ReviewState, reason: str | None
) -> None:
    values = {
        "submission_id": submission_id,
        "review": review,
        "reason": None if reason is None else clean(reason),
    }
    await session.do(statements(__file__)["decide"], values)


async def hold(session: WriteSession, submission_id: int, reason: str) -> bool:
    """Hold it, so that it isn't ranked until a person decides; False if one has decided already."""
    values = {"submission_id": submission_id, "reason": clean(reason)}
    return await session.do(statements(__file__)["hold"], values) == 1


async def refuse_by_rule(session: WriteSession, submission_id: int, reason: str) -> bool:
    """Refuse it automatically; False if a person has decided already."""
    values = {"submission_id": submission_id, "reason": clean(reason)}
    return await session.do(statements(__file__)["refuse_by_rule"], values) == 1


async def trusted(session: WriteSession, of: CheckedScore) -> tuple[float, TrustSource] | None:
    """The score that a submission's is compared with, in seconds: the best of what is known to be
    right and of what a person has released, whoever's it is; without either, the best of the others
    in the ranking. None if there is none."""
    row = await session.one(statements(__file__)["trusted"], asdict(of))
    return None if row is None else (row["score_s"], TrustSource(row["source"]))


async def add_evidence(
    session: WriteSession, submission_id: int, found: Iterable[Evidence]
) -> None:
    """Store evidence; the same evidence is stored only once."""
    rows = [
        {
            "submission_id": submission_id,
            "source": item.source,
            "rule": clean(item.rule),
            "severity": clean(item.severity),
            "detail": clean(item.detail),
        }
        for item in found
    ]
    if rows:
        await session.do_each(statements(__file__)["add_evidence"], rows)


async def evidence(
    session: ReadSession, submission_ids: list[int]
) -> dict[int, tuple[Evidence, ...]]:
    """The evidence on each submission, oldest first."""
    found: dict[int, tuple[Evidence, ...]] = dict.fromkeys(submission_ids, ())
    values = {"submission_ids": submission_ids}
    for row in await session.all(statements(__file__)["evidence"], values):
        found[row["submission_id"]] += (from_row(Evidence, row),)
    return found


async def held(
    session: ReadSession, *, viewer_id: int, everything: bool, board: str | None, limit: int
) -> list[int]:
    """Submissions that wait for a decision on the viewer's boards, or on all; the oldest first."""
    values = {"viewer_id": viewer_id, "everything": everything, "board": board, "limit": limit}
    return [row["id"] for row in await session.all(statements(__file__)["held"], values)]
