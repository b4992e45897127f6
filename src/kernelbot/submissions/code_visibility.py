"""Who may read the code of a submission: the one place that decides it."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import organises
from kernelbot.boards.rules import has_ended


@dataclass(frozen=True)
class CodeAccess:
    """What decides it. `author_id` None: of a submission that isn't the viewer's. `sees_board`:
    only members see a closed board."""

    author_id: int | None
    organiser_id: int
    deadline: datetime | None
    reveal_code: bool
    sees_board: bool


def may_read_code(viewer: User, facts: CodeAccess, now: datetime) -> bool:
    """Authors always read their own, organisers everything; others after the deadline, if the
    competition says so and they may see the board."""
    if viewer.id == facts.author_id or organises(viewer, facts.organiser_id):
        return True
    return facts.reveal_code and has_ended(facts.deadline, now) and facts.sees_board
