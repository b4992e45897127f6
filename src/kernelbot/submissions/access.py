"""Whether a person may see a submission or change it; what they may read says `code_visibility`."""

from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin, organises, require_organiser
from kernelbot.boards.service import no_submission, sees_board, visible_board
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.ids import can_be_id
from kernelbot.store.database import ReadSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions.code_visibility import may_read_code
from kernelbot.submissions.model import BareSubmission


async def existing(session: ReadSession, submission_id: int) -> BareSubmission:
    """The submission, without a check of who may see it. Raises `NotFound`."""
    known = can_be_id(submission_id)
    row = await submissions.one(session, submission_id) if known else None
    if row is None:
        raise no_submission(submission_id)
    return row


async def visible(session: ReadSession, viewer: User, submission_id: int) -> BareSubmission:
    """Raises `NotFound`, and `NotAllowed` if they may not read its code."""
    row = await existing(session, submission_id)
    await require_visible(session, viewer, row)
    return row


async def require_visible(session: ReadSession, viewer: User, row: BareSubmission) -> None:
    """Raises as `visible`."""
    if viewer.id == row.author_id or is_admin(viewer):
        return
    try:
        board = await visible_board(session, viewer, row.board)
    except NotFound:  # so there is no submission on it either
        raise no_submission(row.id) from None
    now = datetime.now(UTC)
    if not may_read_code(viewer, board, row.creator_id, now, author_id=row.author_id):
        raise _someone_elses(row.id)


async def require_organised(session: ReadSession, actor: User, row: BareSubmission) -> None:
    """Raises `NotFound`, as for a submission that isn't there, if the actor can't see its board;
    else as `require_organiser`."""
    if not organises(actor, row.creator_id) and not await sees_board(session, actor, row.board):
        raise no_submission(row.id)
    require_organiser(actor, row.board, row.creator_id)


def as_shown_to(viewer: User, row: BareSubmission) -> BareSubmission:
    """Without the reason of its review for those who may merely read its code."""
    if is_admin(viewer) or viewer.id in (row.author_id, row.creator_id):
        return row
    return replace(row, review_reason=None)


async def own(session: ReadSession, viewer: User, submission_id: int) -> BareSubmission:
    """Raises as `visible`, also if others may read it."""
    row = await visible(session, viewer, submission_id)
    if row.author_id != viewer.id and not is_admin(viewer):
        raise _someone_elses(submission_id)
    return row


def _someone_elses(submission_id: int) -> NotAllowed:
    return NotAllowed(f"Submission {submission_id} is someone else's.")
