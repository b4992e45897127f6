"""The grid of an author's days."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.ranking.authors.calendar import DAYS, WEEKS, calendar
from kernelbot.ranking.authors.model import ActiveDay

MONDAY = date(2026, 11, 23)
THIS_YEAR = st.dates(date(2025, 1, 1), date(2027, 12, 31))


@pytest.mark.parametrize(
    ("day", "place"),
    [
        (MONDAY, (WEEKS - 1, 0)),
        (MONDAY + timedelta(2), (WEEKS - 1, 2)),
        (MONDAY - timedelta(1), (WEEKS - 2, 6)),
        (MONDAY - timedelta(weeks=WEEKS - 1), (0, 0)),
    ],
)
def test_a_week_is_a_column_that_begins_on_monday(day: date, place: tuple[int, int]) -> None:
    (cell,) = calendar([ActiveDay(day, 1)], MONDAY + timedelta(3)).cells
    assert place == (cell.column, cell.row)


@pytest.mark.parametrize("apart", [timedelta(1), -timedelta(weeks=WEEKS - 1, days=1)])
def test_days_beyond_the_grid_are_left_out(apart: timedelta) -> None:
    assert () == calendar([ActiveDay(MONDAY + apart, 1)], MONDAY).cells


@pytest.mark.parametrize(("submissions", "level"), [(1, 1), (2, 1), (3, 2), (9, 3), (500, 4)])
def test_more_submissions_are_a_darker_cell(submissions: int, level: int) -> None:
    found = calendar([ActiveDay(MONDAY, submissions)], MONDAY)
    assert (level, submissions) == (found.cells[0].level, found.submissions)


@given(today=THIS_YEAR, back=st.integers(0, DAYS * WEEKS))
def test_every_cell_is_in_the_grid_and_not_after_today(today: date, back: int) -> None:
    found = calendar([ActiveDay(today - timedelta(back), 1)], today)
    last = WEEKS - 1, found.last
    assert all((0, 0) <= (one.column, one.row) <= last for one in found.cells)
    assert all(one.row < DAYS for one in found.cells)


@given(today=THIS_YEAR)
def test_names_of_months_are_apart_and_leave_room_at_the_edge(today: date) -> None:
    columns = [month.column for month in calendar([], today).months]
    assert all(after - before >= 4 for before, after in pairwise(columns))
    assert 11 <= len(columns) <= 12
    assert columns[-1] <= WEEKS - 3
