"""Who may read the code of a submission: the one place that decides it."""

from datetime import datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import organises
from kernelbot.boards.model import Board
from kernelbot.boards.rules import has_ended


def may_read_code(
    viewer: User | None, board: Board, organiser_id: int, now: datetime, *, author_id: int | None
) -> bool:
    """Whether a viewer who sees the board may read an author's code there; `author_id` None:
    everybody's. Authors always read their own, organisers everything; others after the deadline, if
    the competition says so. Nobody does without logging in."""
    if viewer is None:
        return False
    if viewer.id == author_id or organises(viewer, organiser_id):
        return True
    return board.reveal_code and has_ended(board.deadline, now)
