"""What rankings say of one author, to whoever asks."""

from collections import Counter
from dataclasses import field
from datetime import date, datetime

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass

LAST_ON_PODIUM = 3


@dataclass(frozen=True)
class AuthorStanding:
    """Where an author is ranked on a board's device."""

    board: str
    device: str
    rank: int
    authors: int = field(metadata=described("How many are ranked there."))
    score_s: float
    ci95_s: tuple[float, float] | None = field(
        metadata=described("As in the ranking. Null: the problem's own script reported none.")
    )
    submission_id: int
    achieved_at: datetime
    unverified: bool = field(metadata=described("Measured by the problem's own script."))
    ended: bool = field(metadata=described("The board's deadline has passed."))
    code_is_shown: bool = field(metadata=described("The asker may read the submission's code."))
    shared: bool = field(metadata=described("Others have the same rank: nothing tells them apart."))

    @property
    def medal(self) -> int | None:
        """1, 2 or 3 for a place on the podium of a board that has ended; else None."""
        return self.rank if self.ended and self.rank <= LAST_ON_PODIUM else None


@dataclass(frozen=True)
class AuthorScore:
    """A score that counts, as the trend of its board shows it."""

    board: str
    device: str
    submission_id: int
    score_s: float
    achieved_at: datetime
    code_is_shown: bool = field(metadata=described("The asker may read the submission's code."))


@dataclass(frozen=True)
class ActiveDay:
    """A day, in UTC, and how many submissions of that day count."""

    day: date
    submissions: int


@dataclass(frozen=True)
class AuthorScores:
    """Some of an author's scores that count, the newest first."""

    scores: tuple[AuthorScore, ...]
    next_before_id: int | None = field(metadata=described("For the next page; null on the last."))


@dataclass(frozen=True)
class Author:
    """An author: on each board that the asker may see where they are ranked, the scores that count,
    and when those were submitted."""

    id: int
    name: str
    private: bool = field(metadata=described("Only the author and admins find this."))
    standings: tuple[AuthorStanding, ...]
    days: tuple[ActiveDay, ...] = field(metadata=described("Of the last 53 weeks."))
    history: AuthorScores

    @property
    def medals(self) -> tuple[AuthorStanding, ...]:
        """Places on podiums of boards that have ended, the best first."""
        found = (one for one in self.standings if one.medal is not None)
        return tuple(sorted(found, key=lambda one: (one.rank, one.board)))

    @property
    def medal_counts(self) -> dict[int, int]:
        """How many medals of each rank, the best first; a rank without any is left out."""
        return dict(Counter(one.rank for one in self.medals))
