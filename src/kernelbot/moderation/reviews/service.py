"""Which submissions are held as suspicious, and the decisions of organisers about them."""

from collections.abc import Sequence
from dataclasses import replace

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin, organises
from kernelbot.boards.service import no_submission
from kernelbot.domain.errors import Conflict, UserError
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.domain.states import REVIEW_TRANSITIONS, ReviewState
from kernelbot.moderation.audit import service as audit
from kernelbot.moderation.reviews import store as reviews
from kernelbot.moderation.reviews.model import CheckedScore, Evidence, ReviewRules
from kernelbot.moderation.reviews.store import TrustSource
from kernelbot.ranking.places import RankCache
from kernelbot.store.database import Database, ReadSession, WriteSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.access import existing, require_organised
from kernelbot.submissions.model import Submission

_MAX_REASON = 2000
_MAX_SUSPICIONS = 50
_MAX_DETAIL = 1000
_TRUSTED = {
    TrustSource.KNOWN_RIGHT: "the best that is known to be right",
    TrustSource.REVIEWED: "the best that a person has looked at",
    TrustSource.OTHERS: "the best of the others",
}
_SUSPICIOUS = (
    "The judge noticed something that speaks against its times. A person looks at it before it is "
    "ranked."
)


async def lock_to_hold(
    session: WriteSession, leaderboard_id: int, device: str, submission_ids: Sequence[int]
) -> None:
    """Until the transaction ends nobody else reviews these submissions of the board, or changes the
    ranking on the device, or another that changes if they are held. Of what else the transaction
    locks, rejudges come before, and no other submission or ranking."""
    await reviews.lock_submissions(session, submission_ids)
    await reviews.lock_rankings(session, leaderboard_id, device, submission_ids)


async def hold_if_absurd(session: WriteSession, scored: CheckedScore, rules: ReviewRules) -> bool:
    """Hold a submission whose score is absurdly better than the trusted score on its board and
    device; whether it was held. As soon as anything is known to be right, nobody's last score is
    the trusted one: else many small steps would get past, of one author or of two in turn.

    Call it in the transaction that writes the score, before the ranking is refreshed, or after
    `lock_to_hold`.
    """
    if rules.hold_speedup is None:
        return False
    await lock_to_hold(session, scored.leaderboard_id, scored.device, [scored.submission_id])
    trusted = await reviews.trusted(session, scored)
    if trusted is None or trusted[0] <= scored.score_s * rules.hold_speedup:
        return False
    trusted_s, by = trusted[0], _TRUSTED[trusted[1]]
    reason = (
        f"It is {trusted_s / scored.score_s:.3g} times faster than {by} on {scored.device}. "
        f"A person looks at it before it is ranked."
    )
    is_held = await _hold(session, scored.submission_id, reason)
    if is_held:
        detail = f"{scored.score_s:.6g} s on {scored.device}; {by} was {trusted_s:.6g} s"
        found = Evidence("score", "ABSURD_SPEEDUP", "high", detail)
        await reviews.add_evidence(session, scored.submission_id, [found])
    return is_held


async def hold_if_suspicious(
    session: WriteSession, submission_id: int, suspicions: tuple[str, ...]
) -> None:
    """Hold a submission for what the harness noticed, which only organisers may read.

    Call it in the same transaction as `hold_if_absurd`.
    """
    if not suspicions:
        return
    found = [
        Evidence("harness", "SUSPICIOUS_RESULT", "high", said[:_MAX_DETAIL])
        for said in suspicions[:_MAX_SUSPICIONS]
    ]
    await reviews.add_evidence(session, submission_id, found)
    await _hold(session, submission_id, _SUSPICIOUS)


async def keep_findings(
    session: WriteSession, submission_id: int, found: tuple[Evidence, ...], rules: ReviewRules
) -> None:
    """Store what a tool noticed, and refuse the submission if a rule found is one of
    `refuse_rules`."""
    await reviews.add_evidence(session, submission_id, found)
    chosen = next((item for item in found if item.rule in rules.refuse_rules), None)
    if chosen is not None:
        reason = f"The rule {chosen.rule} forbids it here: {chosen.detail}"
        if await reviews.refuse_by_rule(session, submission_id, reason):
            await submissions.refresh_standings(session, submission_id)


async def _hold(session: WriteSession, submission_id: int, reason: str) -> bool:
    """Hold it on all of its devices, also on those where it has been ranked already. False if a
    person has decided about it."""
    is_held = await reviews.hold(session, submission_id, reason)
    if is_held:
        await submissions.refresh_standings(session, submission_id)
    return is_held


class Reviews:
    """Decisions of a board's organisers: its creator, and admins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def held(
        self, viewer: User, *, board: str | None = None, limit: int = PAGE_ROWS
    ) -> list[Submission]:
        """What waits for the viewer's decision, the oldest first, with its evidence."""
        if (board is not None and "\x00" in board) or not organises(viewer, viewer.id):
            return []
        async with self._database.read() as session:
            ids = await reviews.held(
                session, viewer_id=viewer.id, everything=is_admin(viewer), board=board, limit=limit
            )
            return await _show(session, ids)

    async def get(self, actor: User, submission_id: int) -> Submission:
        """A submission with code and evidence, for the board's organisers. Raises `NotFound`,
        `NotAllowed`."""
        async with self._database.read() as session:
            await require_organised(session, actor, await existing(session, submission_id))
            shown = await _show(session, [submission_id])
        if not shown:
            raise no_submission(submission_id)
        return shown[0]

    async def release(self, actor: User, submission_id: int, reason: str) -> Submission:
        """Let a held or refused submission be ranked. Raises as `refuse`."""
        return await self._decide(actor, submission_id, ReviewState.CLEAR, reason)

    async def refuse(self, actor: User, submission_id: int, reason: str) -> Submission:
        """Keep a submission from the ranking for good; its author reads the reason.

        Raises `NotFound`, `NotAllowed`, `UserError` for an empty reason, `Conflict` if it is
        refused already.
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
            found = await existing(session, submission_id)
            await require_organised(session, actor, found)
            before = await reviews.lock(session, submission_id)
            if before is None:  # it was deleted meanwhile
                raise no_submission(submission_id)
            if review not in REVIEW_TRANSITIONS[before]:
                state = {ReviewState.CLEAR: "neither held nor refused"}.get(
                    before, f"{before} already"
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
                {"reason": reason, "before": before, "board": found.board},
            )
            [shown] = await _show(session, [submission_id])
        return shown


async def _show(session: ReadSession, submission_ids: list[int]) -> list[Submission]:
    """With code and evidence, without results: those are `submission show`'s. Those that have been
    deleted meanwhile are left out."""
    evidence = await reviews.evidence(session, submission_ids)
    entries = {one.submission.id: one for one in await submissions.entries(session, submission_ids)}
    ranks, shown = RankCache(), []
    for number in (one for one in submission_ids if one in entries):
        found = entries[number]
        row = replace(found.submission, code=await submissions.code(session, number))
        places = await ranks.get_ranked(session, found.bests)
        shown.append(views.submission(row, found.runs, places, evidence[number]))
    return shown
