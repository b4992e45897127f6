"""Rows of a ranking from which others are counted."""

from bisect import bisect_right, insort

from kernelbot.domain.types import Standing
from kernelbot.store.standings import TOP, Mark

_APART = 100


class Marks:
    """Those of one version of a ranking that were the first of a page. Whoever reads further down
    counts from the nearest of them, instead of from the top."""

    def __init__(self) -> None:
        self._marks = [TOP]

    def before(self, offset: int) -> Mark:
        """The nearest that isn't past the offset."""
        return self._marks[bisect_right(self._marks, offset, key=_position) - 1]

    def add(self, offset: int, first: Standing) -> None:
        """The row at the offset is marked, unless there is a mark close before it."""
        if offset - self.before(offset).position >= _APART:
            mark = Mark(offset, first.score_s, first.achieved_at, first.author_id)
            insort(self._marks, mark, key=_position)


def _position(mark: Mark) -> int:
    return mark.position
