"""What became of a ranked submission, compared with its author's others and with the leader."""

from kernelbot.accounts.model import User
from kernelbot.ranking import store as standings
from kernelbot.ranking.model import Bests, Compared, Outcome, Score
from kernelbot.runs.model import Run
from kernelbot.store.database import Database
from kernelbot.submissions.model import Rank
from kernelbot.submissions.service import Submissions

_SHOWN = 400


class Outcomes:
    """Reads; what counts was decided when the verdict was written."""

    def __init__(self, database: Database, submissions: Submissions) -> None:
        self._database = database
        self._submissions = submissions

    async def of(self, viewer: User, submission_id: int) -> list[Outcome]:
        """One for each device on which the secret run was accepted; empty if it isn't ranked.
        Raises `NotFound`, `NotAllowed`."""
        found = await self._submissions.snapshot(viewer, submission_id)
        ranks = {place.device: place.rank for place in found.places}
        outcomes = []
        async with self._database.read() as session:
            for run in found.runs:
                if not run.secret or run.score_s is None:
                    continue
                compared = await standings.compared(
                    session,
                    found.row.board_id,
                    run.device,
                    author_id=found.row.author_id,
                    submission_id=submission_id,
                )
                if compared is not None:
                    outcomes.append(_outcome(run, ranks.get(run.device), compared))
        return outcomes

    async def bests(self, viewer: User, submission_id: int, device: str) -> Bests:
        """What to compare a submission with on a device, whatever its mode. Raises `NotFound`,
        `NotAllowed`."""
        found = (await self._submissions.snapshot(viewer, submission_id)).row
        async with self._database.read() as session:
            return await standings.bests(
                session,
                found.board_id,
                device,
                author_id=found.author_id,
                submission_id=submission_id,
            )

    async def progress(self, viewer: User, submission_id: int, device: str) -> tuple[Score, ...]:
        """The scores of a submission's author on its board that count, in the order of submitting.
        Raises `NotFound`, `NotAllowed`."""
        found = (await self._submissions.snapshot(viewer, submission_id)).row
        async with self._database.read() as session:
            return await standings.scores(
                session, found.board_id, device, author_id=found.author_id, limit=_SHOWN
            )


def _outcome(run: Run, rank: Rank | None, compared: Compared) -> Outcome:
    assert run.score_s is not None, "else nothing is compared"
    return Outcome(
        run.device,
        run.score_s,
        rank.number if rank else None,
        compared,
        run.not_ranked,
        place_is_shared=rank is not None and rank.shared,
    )
