"""A module all of whose tests are for each run, though there are more than six."""

import pytest

from tests.conftest import COLLECTED
from tests.support.exhaustive import TESTS, cases
from tests.support.postgres import TestServer

pytestmark = pytest.mark.each_run()
CHOSEN = range(TESTS + 1)


@pytest.mark.parametrize("row", cases(range(TESTS + 2), always=CHOSEN))
def test_a_row(postgres: TestServer, row: int) -> None:
    assert row in range(TESTS + 2)


def test_all_that_were_chosen_are_there(request: pytest.FixtureRequest) -> None:
    mine = [one for one in request.session.stash[COLLECTED] if one.path == request.path]
    assert [f"test_a_row[{row}]" for row in CHOSEN] == [
        one.name for one in mine[:-1] if one.get_closest_marker("exhaustive") is None
    ]
