"""Submissions, from what a door hands in to what people see of them, as frozen values."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import EventKind, Mode, Verdict
from kernelbot.ranking.model import NotRanked
from kernelbot.runs.model import Run


@dataclass(frozen=True)
class NewSubmission:
    """What a door hands to `submissions.service.submit`. `content` is the raw upload."""

    board: str | None
    """None: the `#!POPCORN leaderboard` directive decides."""
    devices: tuple[str, ...]
    """Empty: the directive, or the board's only device, decides."""
    mode: Mode
    file_name: str
    content: bytes


@dataclass(frozen=True)
class Submission:
    """A submission with its runs. State, verdict, score and place are derived.

    `score_s` is the secret run's of a ranked submission (the best device's if several), else the
    public run's; `place` is its rank if it is its author's best on that board and device.
    """

    id: int
    board_id: int
    board: str
    author: str
    author_id: int
    file_name: str
    mode: Mode
    created_at: datetime
    state: SubmissionState
    verdict: Verdict | None
    score_s: float | None
    place: int | None
    runs: tuple[Run, ...]
    code: str | None
    """None if the viewer may not see it, and in lists."""
    review: ReviewState = ReviewState.CLEAR
    review_reason: str | None = None
    """Why it is held or was refused, for its author; None while nothing was said."""
    evidence: tuple[Evidence, ...] = ()
    """For organisers; empty for everyone else, and in lists."""
    not_ranked: NotRanked | None = None
    """Why its score isn't in the ranking, on the device of `score_s`. None: it is ranked, it isn't
    a ranked submission, it isn't finished, or it wasn't accepted (see the verdict)."""
    place_is_shared: bool = False
    """Whether others have the same rank."""
    preflights: tuple[Preflight, ...] = ()
    """What compilers said of it, for each GPU that it was built for; empty in lists."""


@dataclass(frozen=True)
class SubmissionEvent:
    """A step of a submission's life, numbered for resuming. `id` grows within a submission."""

    id: int
    submission_id: int
    run_id: int | None
    device: str | None
    secret: bool
    kind: EventKind | RunState
    data: dict[str, str | int | float | bool | None]
    created_at: datetime


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
class Rank:
    """A rank in a ranking. `shared`: others have the same one."""

    number: int
    shared: bool


@dataclass(frozen=True)
class RankedSubmission:
    """A submission that is its author's best on a device, and the rank it has."""

    submission_id: int
    device: str
    rank: Rank


@dataclass(frozen=True)
class ListedSubmission:
    """A submission as a page of a list found it: of the same submission equal ones show the same.

    `hash`: of all that it shows but its places.
    """

    id: int
    hash: int
    places: tuple[RankedSubmission, ...]
