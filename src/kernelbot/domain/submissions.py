"""A submission as it is found, before anything is derived of it."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.domain.states import ReviewState
from kernelbot.protocol import Mode


@dataclass(frozen=True)
class BareSubmission:
    """What is known of a submission itself, without its runs. `code` None in lists."""

    id: int
    board_id: int
    board: str
    creator_id: int
    """The board's."""
    author: str
    author_id: int
    file_name: str
    mode: Mode
    created_at: datetime
    review: ReviewState
    review_reason: str | None
    seed_is_shared: bool
    """Whether all secret runs of the board have the same seed."""
    code: str | None = None


@dataclass(frozen=True)
class Place:
    """A submission that is its author's best on a device, and the rank it has."""

    submission_id: int
    device: str
    rank: int


@dataclass(frozen=True)
class ListedSubmission:
    """A submission as a page of a list found it: of the same submission equal ones show the same.

    `hash`: of all that it shows but its places.
    """

    id: int
    hash: int
    places: tuple[Place, ...]
