"""Rows of a ranking from which others are counted."""

from bisect import bisect_right, insort
from collections.abc import Sequence

from kernelbot.ranking.model import Standing
from kernelbot.ranking.store import TOP, Mark

_APART = 100


class PageMarks:
    """Rows of one version of a ranking at positions divisible by 100. A page further down is
    counted from the nearest of them instead of from the top."""

    def __init__(self) -> None:
        self._marks = [TOP]

    def before(self, offset: int) -> Mark:
        """The nearest mark that isn't past the offset."""
        return self._marks[bisect_right(self._marks, offset, key=_position) - 1]

    def add(self, offset: int, rows: Sequence[Standing]) -> None:
        """Mark those of the rows, read at the offset, whose position is divisible by 100."""
        for position in range(-(-offset // _APART) * _APART, offset + len(rows), _APART):
            row = rows[position - offset]
            if self.before(position).position != position:
                insort(self._marks, Mark(position, row), key=_position)


def _position(mark: Mark) -> int:
    return mark.position
