"""The days of a year as a grid: a column for each week, Monday first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from kernelbot.ranking.authors.model import ActiveDay

WEEKS = 53
DAYS = 7
_LEVELS = (1, 3, 6, 10)
"""From so many submissions on a day has the next darker colour."""


@dataclass(frozen=True)
class CalendarDay:
    """A day on which there was something. `level`: 1 to 4, how much."""

    column: int
    row: int
    level: int
    day: ActiveDay


@dataclass(frozen=True)
class Month:
    """The first week of a month."""

    column: int
    name: str


@dataclass(frozen=True)
class Calendar:
    """The weeks until today. `last`: the row of today, in the last column."""

    cells: tuple[CalendarDay, ...]
    months: tuple[Month, ...]
    last: int

    @property
    def submissions(self) -> int:
        """How many there were on all days."""
        return sum(cell.day.submissions for cell in self.cells)


def calendar(days: Iterable[ActiveDay], today: date) -> Calendar:
    """The grid of `WEEKS` weeks that ends with today's; other days are left out."""
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    cells = (
        CalendarDay(*divmod((one.day - first).days, DAYS), _level(one.submissions), one)
        for one in days
        if first <= one.day <= today
    )
    return Calendar(tuple(cells), tuple(_months(first)), today.weekday())


def _level(submissions: int) -> int:
    return sum(submissions >= least for least in _LEVELS)


def _months(first: date) -> Iterator[Month]:
    """The months that begin in one of the weeks, but for one at the right edge, whose name has no
    room."""
    for column in range(1, WEEKS - 2):
        monday = first + timedelta(weeks=column)
        if (monday - timedelta(weeks=1)).month != monday.month:
            yield Month(column, f"{monday:%b}")
