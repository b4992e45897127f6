"""The ranking's rows, and why a submission isn't ranked: what `shown_runs` in the store decides."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.boards.model import Board
from kernelbot.domain.values import described
from kernelbot.duels.model import Ratio
from kernelbot.protocol.late import dataclass
from kernelbot.ranking.roofline import RooflineLimit


class NotRankedReason(StrEnum):
    """Why a ranked submission whose runs were accepted isn't in the ranking."""

    SAME_CODE = "same_code"
    NO_BETTER = "no_better"
    SUPERSEDED = "superseded"
    BEFORE_REJUDGE = "before_rejudge"
    DUEL_WAITS = "duel_waits"
    DUEL_UNDECIDED = "duel_undecided"
    DUEL_LOST = "duel_lost"
    DUEL_FAILED = "duel_failed"
    HELD = "held"
    REFUSED = "refused"
    BANNED = "banned"
    CANCELLED = "cancelled"
    DEVICE_REMOVED = "device_removed"
    PROBLEM_CHANGED = "problem_changed"
    MEASURED_AGAIN = "measured_again"
    SCRIPT = "script"


_SENTENCES = {
    NotRankedReason.SAME_CODE: "it is the same code as submission {other}, which counts once",
    NotRankedReason.NO_BETTER: ("its score isn't below the 95 % interval of submission {other}"),
    NotRankedReason.SUPERSEDED: "submission {other}, sent later, is ranked in its place",
    NotRankedReason.BEFORE_REJUDGE: (
        "it was measured before a rejudge, with which older scores don't compete; submission "
        "{other} is ranked"
    ),
    NotRankedReason.DUEL_WAITS: (
        "its score is below that of submission {other}, but too close to tell; a duel between the "
        "two decides, and waits for its turn"
    ),
    NotRankedReason.DUEL_UNDECIDED: "a duel didn't tell it clearly enough from submission {other}",
    NotRankedReason.DUEL_LOST: "in a duel, submission {other} was faster",
    NotRankedReason.DUEL_FAILED: (
        "its score isn't below the 95 % interval of submission {other}, and the duel between the "
        "two decided nothing"
    ),
    NotRankedReason.HELD: "it is held until an organiser has looked at it",
    NotRankedReason.REFUSED: "it was refused",
    NotRankedReason.BANNED: "its author's account is banned",
    NotRankedReason.CANCELLED: "one of its runs was cancelled",
    NotRankedReason.DEVICE_REMOVED: "the board no longer offers its device",
    NotRankedReason.PROBLEM_CHANGED: "the board's problem has changed since it was measured",
    NotRankedReason.MEASURED_AGAIN: "it wasn't accepted when it was measured again",
    NotRankedReason.SCRIPT: (
        "it was measured by the problem's own script, and the board's problem is judged natively"
    ),
}


@dataclass(frozen=True)
class NotRanked:
    """Why a submission that was accepted isn't in the ranking."""

    reason: NotRankedReason
    sentence: str
    submission_id: int | None = field(
        metadata=described(
            "Whose code it is, which may have been deleted, or which is ranked instead."
        )
    )

    @classmethod
    def because(
        cls, reason: NotRankedReason, submission_id: int | None = None, ratio: Ratio | None = None
    ) -> "NotRanked":
        """The reason with its sentence. `ratio`: what the duel with that submission showed; None
        unless the reason is its outcome."""
        why = _SENTENCES[reason].format(other=submission_id)
        measured = f" (ratio {ratio.text})" if ratio else ""
        return cls(reason, f"Not ranked: {why}{measured}.", submission_id)


@dataclass(frozen=True)
class ScoreInterval:
    """The 95 % interval of a ranked run's score as a ranking compares it, and what it consists of;
    in seconds."""

    ci95_s: tuple[float, float] = field(
        metadata=described("With what differs between judgings, as in the ranking.")
    )
    own_ci95_s: tuple[float, float] = field(
        metadata=described("Of the run's own samples: of one judging alone.")
    )
    scatter: float = field(
        metadata=described(
            "The standard deviation of ln(score) between judgings that was assumed of the device."
        )
    )
    pairs: int | None = field(
        metadata=described(
            "How many judgings of code that had been judged before the device had shown, from "
            "which `scatter` was estimated beside twelve assumed ones. 0: it was assumed; null: it "
            "wasn't recorded."
        )
    )


@dataclass(frozen=True)
class ComparedScores:
    """Scores to compare a submission's with; None: there is none."""

    previous_s: float | None
    """The author's best before it."""
    leader_s: float | None
    """The best of all, which may be its own."""
    authors: int
    """How many are ranked."""

    def gain(self, score_s: float) -> float | None:
        """How many times as fast as the author's best before it; None: there was none, or it wasn't
        slower, as one that a rejudge has measured again since."""
        if self.previous_s is None or self.previous_s <= score_s:
            return None
        return self.previous_s / score_s


_PAGE = described(
    "The author's number, by which their page is found. Null: they keep it private, or nothing "
    "here leads there."
)


@dataclass(frozen=True)
class Score:
    """A score that counts: in seconds, with its 95 % interval, its author, the submission that has
    it and when that was sent. The classes below add where it counts."""

    submission_id: int
    author: str
    score_s: float
    ci95_s: tuple[float, float] | None = field(
        metadata=described(
            "As in the ranking. Null: it isn't ranked, or the problem's own script reported none."
        )
    )
    achieved_at: datetime
    page_id: int | None = field(default=None, kw_only=True, metadata=_PAGE)


@dataclass(frozen=True)
class BoardScore(Score):
    """A score with its board and device."""

    leaderboard_id: int
    device: str
    author_id: int
    unverified: bool
    """Measured by the problem's own script."""


@dataclass(frozen=True)
class Bests:
    """The best to compare a submission with on its device; None: there is none."""

    own: Score | None
    """The best of its author's others."""
    leader: Score | None
    """The first of the ranking, which may be the submission itself."""


@dataclass(frozen=True)
class ScoreComparison:
    """A submission's score on one device beside others that count there."""

    device: str
    score: Score
    rank: int | None = field(metadata=described("Null: it isn't its author's best there."))
    shared: bool = field(metadata=described("Others have the same rank: nothing tells them apart."))
    own: Score | None = field(
        metadata=described(
            "The best of its author's others. Null: there is none, or another person asks."
        )
    )
    leader: Score | None = field(
        metadata=described("The first of the ranking, which may be the submission itself.")
    )
    limit: RooflineLimit | None = field(
        default=None,
        metadata=described(
            "How much of what the device can do was reached. Null: the problem doesn't give "
            "operations and bytes, or nobody configured the device's peaks."
        ),
    )


@dataclass(frozen=True)
class Comparisons:
    """A submission's scores beside others, and the version of its board's problem by which their
    limits are known; None: there are none."""

    found: tuple[ScoreComparison, ...]
    problem_version_id: int | None


@dataclass(frozen=True)
class Trend:
    """How a board's scores on one device became better. `records`: those that were the best of all
    when they were submitted; `chosen`: the scores of the authors who were asked for, by name."""

    board: str
    device: str
    records: tuple[Score, ...]
    chosen: dict[str, tuple[Score, ...]]


@dataclass(frozen=True)
class Record:
    """A score that was the best on its board's device when it was submitted."""

    board: str
    device: str
    score: Score


@dataclass(frozen=True)
class Recent:
    """What has happened on some boards of late. `submissions`: how many came to each within 24
    hours, by the board's id. `records`: the first of each ranking, the newest ones."""

    submissions: dict[int, int]
    has_more: bool
    """Whether there were more submissions than are counted."""
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Standing:
    """An author's best on a board and device."""

    rank: int
    author: str
    author_id: int
    score_s: float
    ci95_s: tuple[float, float] | None = field(
        metadata=described(
            "Of the score, with what the device has shown to differ between judgings. Null: the "
            "problem's own script reported none."
        )
    )
    submission_id: int
    file_name: str
    achieved_at: datetime
    unverified: bool = field(metadata=described("Measured by the problem's own script."))
    shared: bool = field(
        default=False, metadata=described("Others have the same rank: nothing tells them apart.")
    )
    page_id: int | None = field(default=None, metadata=_PAGE)


@dataclass(frozen=True)
class StandingsPage:
    """One page of a ranking; `total` counts all its rows."""

    board: str
    device: str
    total: int
    standings: tuple[Standing, ...]


@dataclass(frozen=True)
class RankedBoard:
    """A board with the first of its ranking on one device."""

    board: Board
    page: StandingsPage
