"""Authors show results by links, and stop doing so."""

import re
import secrets
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_unbanned
from kernelbot.boards.model import OwnedBoard, Visibility
from kernelbot.boards.service import find_board
from kernelbot.domain.errors import Conflict, NotAllowed, NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Verdict
from kernelbot.ranking.model import Score
from kernelbot.ranking.places import RankCache
from kernelbot.runs.model import Run
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions import views
from kernelbot.submissions.access import visible
from kernelbot.submissions.model import BareSubmission, Submission
from kernelbot.submissions.sharing import store as links
from kernelbot.submissions.sharing.model import ResultLink, SharedResult
from kernelbot.submissions.sharing.rules import code_from, is_result

_SECRET_BYTES = 16
_SECRET = re.compile(r"[\w-]{22}", re.ASCII)


class Sharing:
    """A link shows what rankings show of a submission, and its code if its author wants. It leads
    nowhere while the board isn't public, or the score is doubted."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places = RankCache()

    async def link(self, author: User, submission_id: int) -> ResultLink | None:
        """The submission's link; None: there is none. Raises `NotFound`, and `NotAllowed` if it is
        somebody else's."""
        async with self._database.read() as session:
            await _own(session, author, submission_id)
            return await links.of_submission(session, submission_id)

    async def share(self, author: User, submission_id: int, *, shows_code: bool) -> ResultLink:
        """Make the link, or change whether it shows the code. Raises as `link`, `Banned`, and
        `Conflict` for what has no result or is on a board that not everybody sees."""
        require_unbanned(author)
        async with self._database.write() as session:
            row = await _own(session, author, submission_id)
            if (await find_board(session, author, row.board)).visibility != Visibility.PUBLIC:
                raise Conflict(
                    f"Board {row.board!r} is by invite, so its results aren't shown to everybody."
                )
            shown = await self._submission(session, submission_id)
            if shown is None or not is_result(shown):
                raise Conflict(
                    f"Submission {submission_id} has no result to show.",
                    hint="It needs to be a ranked one that was accepted and isn't held or refused.",
                )
            secret = secrets.token_urlsafe(_SECRET_BYTES)
            return await links.put(session, submission_id, secret=secret, shows_code=shows_code)

    async def stop(self, author: User, submission_id: int) -> None:
        """Delete the link, if there is one; the next one has another secret. Raises as `link`."""
        async with self._database.write() as session:
            await _own(session, author, submission_id)
            await links.delete(session, submission_id)

    async def read(self, secret: str) -> SharedResult:
        """What the link with this secret shows. Raises `NotFound`."""
        async with self._database.read() as session:
            link = await links.by_secret(session, secret) if _SECRET.fullmatch(secret) else None
            shown = await self._submission(session, link.submission_id) if link else None
            if link is None or shown is None or not is_result(shown):
                raise _no_result()
            try:
                board = await find_board(session, None, shown.board)
            except NotFound:
                raise _no_result() from None
            opens_at = code_from(board.board.deadline, datetime.now(UTC))
            code = None
            if link.shows_code and opens_at is None:
                code = await submissions.code(session, shown.id)
        return _shared(shown, board, code, opens_at if link.shows_code else None)

    async def _submission(self, session: ReadSession, submission_id: int) -> Submission | None:
        """The submission as lists show it; None: it is deleted."""
        for entry in await submissions.entries(session, [submission_id]):
            places = await self._places.get_ranked(session, list(entry.bests))
            return views.submission(entry.submission, entry.runs, places)
        return None


async def _own(session: ReadSession, author: User, submission_id: int) -> BareSubmission:
    """Raises `NotFound`, `NotAllowed`: it is for its author alone to show it."""
    row = await visible(session, author, submission_id)
    if row.author_id != author.id:
        raise NotAllowed(f"Only its author shows submission {submission_id} to others.")
    return row


def _shared(
    shown: Submission, board: OwnedBoard, code: str | None, code_from: datetime | None
) -> SharedResult:
    run = _scored(shown)
    size = board.rankings.get(run.device)
    assert shown.score_s is not None, "else it is no result"
    return SharedResult(
        score=Score(
            submission_id=shown.id,
            author=shown.author,
            score_s=shown.score_s,
            ci95_s=run.interval.ci95_s if run.interval else None,
            achieved_at=shown.created_at,
        ),
        board=board.board.name,
        device=run.device,
        author_id=shown.author_id,
        rank=shown.place,
        shared=shown.place_is_shared,
        authors=size.authors if size else 0,
        version=size.version if size else 0,
        unverified=run.unverified,
        file_name=shown.file_name,
        code=code,
        code_from=code_from,
    )


def _scored(shown: Submission) -> Run:
    return next(
        run
        for run in shown.runs
        if run.secret and run.score_s == shown.score_s and run.verdict is Verdict.ACCEPTED
    )


def _no_result() -> NotFound:
    return NotFound(
        "This link shows nothing: its author has ended it, or what it showed is no longer there.",
        next_step=Next.LIST_BOARDS,
    )
