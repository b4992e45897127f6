"""What became of a ranked submission, compared with its author's others and with the leader."""

from kernelbot.accounts.model import User
from kernelbot.boards.service import sees_board, visible_board
from kernelbot.domain.errors import NotFound
from kernelbot.domain.states import ReviewState, SubmissionState, submission_state
from kernelbot.protocol import Mode, Verdict
from kernelbot.ranking import store as standings
from kernelbot.ranking.model import Bests, Comparisons, Score, ScoreComparison
from kernelbot.runs.model import Run
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions.model import BareSubmission, RankedOutcome
from kernelbot.submissions.service import Submissions
from kernelbot.submissions.views import SubmissionSnapshot

_SHOWN = 400
_NOTHING = Comparisons((), None)


class Outcomes:
    """Reads; what counts was decided when the verdict was written."""

    def __init__(self, database: Database, submissions: Submissions) -> None:
        self._database = database
        self._submissions = submissions

    async def for_submission(self, viewer: User, submission_id: int) -> list[RankedOutcome]:
        """An outcome for each device on which the secret run was accepted; empty if it isn't
        ranked, or if its board isn't for the viewer. Raises `NotFound`, `NotAllowed`."""
        found = await self._submissions.snapshot(viewer, submission_id)
        return await self.for_snapshot(viewer, found)

    async def for_snapshot(self, viewer: User, found: SubmissionSnapshot) -> list[RankedOutcome]:
        """What `for_submission` gives, for who has looked at the submission already."""
        ranks = {place.device: place.rank for place in found.places}
        outcomes = []
        async with self._database.read() as session:
            if not await sees_board(session, viewer, found.row.board):
                return []
            for run in found.runs:
                if not run.secret or run.score_s is None:
                    continue
                compared = await standings.compared(
                    session,
                    found.row.board_id,
                    run.device,
                    author_id=found.row.author_id,
                    submission_id=found.id,
                )
                if compared is not None:
                    outcomes.append(RankedOutcome(run, ranks.get(run.device), compared))
        return outcomes

    async def bests(self, snapshot: SubmissionSnapshot, device: str) -> Bests:
        """What to compare a submission with on a device, whatever its mode."""
        found = snapshot.row
        async with self._database.read() as session:
            return await _bests(session, found, device)

    async def comparisons(self, viewer: User, found: SubmissionSnapshot) -> Comparisons:
        """A submission's scores beside others that count, one for each device on which it was
        accepted, without their limits; empty until it is finished, and if its board isn't for the
        viewer."""
        runs = _compared_runs(found)
        if not runs:
            return _NOTHING
        row = found.row
        async with self._database.read() as session:
            try:
                board = await visible_board(session, viewer, row.board)
            except NotFound:
                return _NOTHING
            compared = [
                _comparison(viewer, found, run, await _bests(session, row, run.device))
                for run in runs
            ]
        return Comparisons(tuple(compared), board.problem_version_id)

    async def progress(self, viewer: User, submission_id: int, device: str) -> tuple[Score, ...]:
        """The scores of a submission's author on its board that count, in the order of submitting.
        Raises `NotFound`, `NotAllowed`."""
        found = (await self._submissions.snapshot(viewer, submission_id)).row
        async with self._database.read() as session:
            return await standings.scores(
                session, found.board_id, device, author_id=found.author_id, limit=_SHOWN
            )


async def _bests(session: ReadSession, row: BareSubmission, device: str) -> Bests:
    return await standings.bests(
        session, row.board_id, device, author_id=row.author_id, submission_id=row.id
    )


def _compared_runs(found: SubmissionSnapshot) -> list[Run]:
    """The runs whose scores are compared: a ranked submission's are the secret ones."""
    row = found.row
    state = submission_state((run.state for run in found.runs), row.review)
    accepted = all(run.verdict is Verdict.ACCEPTED for run in found.runs)
    if state is not SubmissionState.FINISHED or not accepted or row.review is ReviewState.REFUSED:
        return []
    if row.mode not in (Mode.LEADERBOARD, Mode.BENCHMARK):
        return []
    ranked = row.mode is Mode.LEADERBOARD
    return [run for run in found.runs if run.secret is ranked and run.score_s]


def _comparison(viewer: User, found: SubmissionSnapshot, run: Run, bests: Bests) -> ScoreComparison:
    assert run.score_s is not None, "else it isn't compared"
    row = found.row
    ci95_s = run.interval.ci95_s if run.interval else None
    rank = next((place.rank for place in found.places if place.device == run.device), None)
    return ScoreComparison(
        device=run.device,
        score=Score(row.id, row.author, run.score_s, ci95_s, row.created_at),
        rank=rank.number if rank else None,
        shared=rank is not None and rank.shared,
        own=bests.own if viewer.id == row.author_id else None,
        leader=bests.leader,
    )
