"""Suspicious is not guilty: what is held, and the organisers who decide about it."""

import builtins
from dataclasses import dataclass

from kernelbot.domain.errors import Conflict, NotFound, UserError
from kernelbot.domain.states import REVIEW_TRANSITIONS, ReviewState
from kernelbot.domain.types import Evidence, Role, Submission, User
from kernelbot.services import audit, views
from kernelbot.services.places import Places
from kernelbot.services.roles import require_organiser
from kernelbot.store import reviews, submissions
from kernelbot.store.database import Database, ReadSession, WriteSession

_MAX_ID = 2**63 - 1
_MAX_REASON = 2000


@dataclass(frozen=True)
class ReviewRules:
    """What is held by itself. `hold_speedup` None: nothing is."""

    hold_speedup: float | None = 20.0
    """How many times faster than the board's best is too good to be believed unseen."""
    triage: bool = True
    """Whether ranked submissions are shown to kernelguard, where it is installed."""
    refuse_rules: tuple[str, ...] = ()
    """Its rules (`TIMER_MONKEYPATCH`, ...) that refuse by themselves; by default none does."""


@dataclass(frozen=True)
class Scored:
    """A score that was just written."""

    submission_id: int
    leaderboard_id: int
    device: str
    score_s: float


async def hold_if_absurd(session: WriteSession, scored: Scored, rules: ReviewRules) -> None:
    """Hold a submission whose score is absurdly better than every other on its board and device.

    Belongs into the transaction that writes the score, before the ranking is refreshed.
    """
    if rules.hold_speedup is None:
        return
    best_s = await reviews.best_of_others_s(
        session, scored.leaderboard_id, scored.device, scored.submission_id
    )
    if best_s is None or best_s <= scored.score_s * rules.hold_speedup:
        return
    factor = best_s / scored.score_s
    reason = (
        f"It is {factor:.3g} times faster than the board's best on {scored.device}. "
        f"A person looks at it before it is ranked."
    )
    if await reviews.hold(session, scored.submission_id, reason):
        detail = f"{scored.score_s:.6g} s on {scored.device}; the best before was {best_s:.6g} s"
        found = Evidence("score", "ABSURD_SPEEDUP", "high", detail)
        await reviews.add_evidence(session, scored.submission_id, [found])


async def keep_findings(
    session: WriteSession, submission_id: int, found: tuple[Evidence, ...], rules: ReviewRules
) -> None:
    """Keep what a tool noticed, and refuse for it where an organiser chose that."""
    await reviews.add_evidence(session, submission_id, found)
    chosen = next((item for item in found if item.rule in rules.refuse_rules), None)
    if chosen is not None:
        reason = f"The rule {chosen.rule} forbids it here: {chosen.detail}"
        await reviews.refuse_by_rule(session, submission_id, reason)


class Reviews:
    """Decisions of a board's organisers: its creator, and admins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def held(
        self, viewer: User, *, board: str | None = None, limit: int = 50
    ) -> builtins.list[Submission]:
        """What waits for a decision of the viewer's, the oldest first, with its evidence."""
        if board is not None and "\x00" in board:
            return []
        async with self._database.read() as session:
            ids = await reviews.held(
                session,
                viewer_id=viewer.id,
                everything=viewer.role is Role.ADMIN,
                board=board,
                limit=limit,
            )
            evidence = await reviews.evidence(session, ids)
            return [await _show(session, number, evidence[number]) for number in ids]

    async def release(self, actor: User, submission_id: int, reason: str) -> Submission:
        """Let a held or refused submission be ranked. Raises as `refuse`."""
        return await self._decide(actor, submission_id, ReviewState.CLEAR, reason)

    async def refuse(self, actor: User, submission_id: int, reason: str) -> Submission:
        """Keep a submission from the ranking for good; its author reads the reason.

        Raises `NotFound`, `NotAllowed`, `UserError` for an empty reason, `Conflict` where that
        is how it is already.
        """
        return await self._decide(actor, submission_id, ReviewState.REFUSED, reason)

    async def _decide(
        self, actor: User, submission_id: int, review: ReviewState, reason: str
    ) -> Submission:
        reason = reason.strip()
        if not reason or len(reason) > _MAX_REASON:
            raise UserError(
                f"A decision needs a reason of 1 to {_MAX_REASON} characters.",
                hint="The author and the audit log name it.",
            )
        async with self._database.write() as session:
            known = 0 < submission_id <= _MAX_ID
            found = await reviews.lock(session, submission_id) if known else None
            if found is None:
                raise NotFound(f"There is no submission {submission_id}.")
            require_organiser(actor, found.board, found.creator_id)
            if review not in REVIEW_TRANSITIONS[found.review]:
                state = {ReviewState.CLEAR: "neither held nor refused"}.get(
                    found.review, f"{found.review} already"
                )
                raise Conflict(f"Submission {submission_id} is {state}.")
            shown_reason = reason if review is ReviewState.REFUSED else None
            await reviews.decide(session, submission_id, review, shown_reason)
            await submissions.refresh_standings(session, submission_id)
            action = {
                ReviewState.CLEAR: "submission.release",
                ReviewState.REFUSED: "submission.refuse",
            }
            await audit.record(
                session,
                actor,
                action[review],
                f"submission:{submission_id}",
                {"reason": reason, "before": found.review, "board": found.board},
            )
            evidence = await reviews.evidence(session, [submission_id])
            return await _show(session, submission_id, evidence[submission_id])


async def _show(
    session: ReadSession, submission_id: int, evidence: tuple[Evidence, ...]
) -> Submission:
    """With code and evidence, without results: those are `submission show`'s."""
    row = await submissions.one(session, submission_id)
    assert row is not None, "it was found a moment ago"
    runs, bests = await submissions.runs_and_bests(session, [row])
    places = await Places().of(session, bests)
    return views.submission(row, runs[submission_id], places, evidence)
