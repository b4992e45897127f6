from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.ranking.marks import PageMarks
from kernelbot.ranking.model import Standing

PAGES = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 250)), max_size=30)
"""Of pages that were read, with their lengths."""


def row(offset: int) -> Standing:
    """The row at an offset; its author tells which."""
    return Standing(
        rank=offset + 1,
        author_id=offset,
        author="ada",
        score_s=float(offset),
        ci95_s=None,
        submission_id=offset,
        file_name="fast.py",
        achieved_at=datetime(2030, 1, 1, tzinfo=UTC),
        unverified=False,
    )


def marked(pages: list[tuple[int, int]]) -> PageMarks:
    marks = PageMarks()
    for offset, length in pages:
        marks.add(offset, [row(position) for position in range(offset, offset + length)])
    return marks


@given(PAGES, st.integers(0, 2000))
def test_the_nearest_hundred_that_was_read_is_counted_from(
    pages: list[tuple[int, int]], offset: int
) -> None:
    read = {place for start, length in pages for place in range(start, start + length)}
    nearest = max((place for place in read if place % 100 == 0 and place <= offset), default=0)
    assert nearest == marked(pages).before(offset).position


@given(PAGES, st.integers(0, 2000))
def test_a_mark_is_of_the_row_at_its_position(pages: list[tuple[int, int]], offset: int) -> None:
    found = marked(pages).before(offset)
    assert found.position == (found.row.author_id if found.row else 0)
