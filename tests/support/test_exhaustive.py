"""Which rows of the tables below are for each run."""

from collections.abc import Iterable

import pytest

from tests.conftest import COLLECTED
from tests.support.exhaustive import cases
from tests.support.postgres import TestServer


@pytest.mark.parametrize("row", range(4))
def test_a_row_with_a_database(postgres: TestServer, row: int) -> None:
    assert row in range(4)


@pytest.mark.parametrize("row", cases(range(4), always=[1, 2, 3]))
def test_a_row_that_was_chosen(postgres: TestServer, row: int) -> None:
    assert row in range(4)


@pytest.mark.parametrize("row", cases(range(4), always=[0, 1, 3]))
def test_a_row_after_five(postgres: TestServer, row: int) -> None:
    assert row in range(4)


@pytest.mark.parametrize("row", range(4))
def test_a_quick_row(row: int) -> None:
    assert row in range(4)


def test_further_rows_that_take_long_are_left_out(request: pytest.FixtureRequest) -> None:
    mine = [one for one in request.session.stash[COLLECTED] if one.path == request.path]
    assert {
        "test_a_row_with_a_database": [0, 1],
        "test_a_row_that_was_chosen": [1, 2, 3],
        "test_a_row_after_five": [0],
        "test_a_quick_row": [0, 1, 2, 3],
    } == {name: rows_of(name, mine) for name in (row.__name__ for row in TABLES)}


TABLES = (
    test_a_row_with_a_database,
    test_a_row_that_was_chosen,
    test_a_row_after_five,
    test_a_quick_row,
)


def rows_of(table: str, items: Iterable[pytest.Item]) -> list[object]:
    """Those of the table that each run has."""
    return [
        item.callspec.params["row"]
        for item in items
        if isinstance(item, pytest.Function)
        and item.originalname == table
        and item.get_closest_marker("exhaustive") is None
    ]
