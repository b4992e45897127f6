"""Submissions, from what a door hands in to what people see of them, as frozen values."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.domain.values import described
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import EventKind, Mode, Verdict
from kernelbot.protocol.late import dataclass
from kernelbot.ranking.model import ComparedScores, NotRanked, ScoreComparison
from kernelbot.runs.model import Run, RunView


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


@dataclass(frozen=True, kw_only=True)
class SubmissionView:
    """A submission with its runs. State, verdict, score and place are derived from them."""

    id: int
    board: str
    author: str
    file_name: str
    mode: Mode
    created_at: datetime
    state: SubmissionState
    verdict: Verdict | None
    score_s: float | None
    """The secret run's of a ranked submission (the best device's if several), else the public
    run's."""
    place: int | None = field(metadata=described("The rank, if this is its author's best."))
    place_is_shared: bool = field(
        default=False, metadata=described("Others have the same rank: nothing tells them apart.")
    )
    queue_position: int | None = field(
        default=None, metadata=described("1 is next; null when not waiting, and in lists.")
    )
    wait_s: float | None = field(
        default=None,
        metadata=described("A guess at how long it still waits; null: none can be made."),
    )
    queue_note: str = field(
        default="",
        metadata=described("Why nothing is judged on its device just now; empty: it is."),
    )
    runs: tuple[RunView, ...]
    code: str | None = field(
        metadata=described("Null where the asker may not see it, and in lists.")
    )
    review: ReviewState = ReviewState.CLEAR
    review_reason: str | None = field(
        default=None,
        metadata=described("Why it is held or was refused; null while nothing was said."),
    )
    evidence: tuple[Evidence, ...] = field(
        default_factory=tuple, metadata=described("For organisers; empty for others, and in lists.")
    )
    not_ranked: NotRanked | None = field(
        default=None,
        metadata=described(
            "Why its score isn't in the ranking; null: it is, it didn't ask to be, it isn't over, "
            "or it wasn't accepted."
        ),
    )
    preflights: tuple[Preflight, ...] = field(
        default=(),
        metadata=described(
            "What compilers said of it before it had a GPU, for each that it was built for, beside "
            "its author's version before; empty in lists."
        ),
    )
    comparisons: tuple[ScoreComparison, ...] = field(
        default=(),
        metadata=described(
            "Its score beside others, for each device, once it was accepted in mode leaderboard or "
            "benchmark; empty in lists."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Submission(SubmissionView):
    """A submission with what only the server knows of it."""

    board_id: int
    author_id: int
    runs: tuple[Run, ...]


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
class RankedOutcome:
    """What became of a ranked submission on one device: of its secret run, which has a score."""

    run: Run
    rank: Rank | None
    """None: it isn't its author's best there."""
    compared: ComparedScores


@dataclass(frozen=True)
class BestSubmission:
    """A submission that is its author's best on a device. `version`: the ranking's."""

    submission_id: int
    leaderboard_id: int
    device: str
    author_id: int
    version: int

    @property
    def key(self) -> tuple[int, str, int]:
        """Whose rank it is, on which board and device."""
        return self.leaderboard_id, self.device, self.author_id


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
