"""Whether a person may see a submission or change it; what they may read says `code_visibility`."""

from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin
from kernelbot.boards.service import no_submission, visible_board
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.ids import can_be_id
from kernelbot.store.database import ReadSession
from kernelbot.submissions import store as submissions
from kernelbot.submissions.code_visibility import CodeAccess, may_read_code
from kernelbot.submissions.model import BareSubmission


async def _existing(session: ReadSession, submission_id: int) -> BareSubmission:
    """Raises `NotFound`."""
    known = can_be_id(submission_id)
    row = await submissions.one(session, submission_id) if known else None
    if row is None:
        raise no_submission(submission_id)
    return row


async def visible(session: ReadSession, viewer: User, submission_id: int) -> BareSubmission:
    """Raises `NotFound`, and `NotAllowed` if they may not read its code."""
    row = await _existing(session, submission_id)
    await require_visible(session, viewer, row)
    return row


async def require_visible(session: ReadSession, viewer: User, row: BareSubmission) -> None:
    """Raises as `visible`."""
    if viewer.id == row.author_id or is_admin(viewer):
        return
    try:
        may_read = await _may_read(session, viewer, row)
    except NotFound:  # of the board: so there is no submission on it either
        raise no_submission(row.id) from None
    if not may_read:
        raise _someone_elses(row.id)


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


async def _may_read(session: ReadSession, viewer: User, found: BareSubmission) -> bool:
    board = await visible_board(session, viewer, found.board)
    facts = CodeAccess(
        author_id=found.author_id,
        organiser_id=found.creator_id,
        deadline=board.deadline,
        reveal_code=board.reveal_code,
        sees_board=True,
    )
    return may_read_code(viewer, facts, datetime.now(UTC))
