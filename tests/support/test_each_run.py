"""A module that says by itself which of its tests are for each run."""

import pytest

from tests.conftest import COLLECTED

NAMED = ("test_of_each_run", "test_a_row[1]", "test_the_others_are_left_out")
pytestmark = pytest.mark.each_run(*NAMED)


@pytest.mark.parametrize("row", range(3))
def test_a_row(row: int) -> None:
    assert row in range(3)


def test_of_each_run(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("exhaustive") is None


def test_of_its_kind(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("exhaustive") is not None


def test_the_others_are_left_out(request: pytest.FixtureRequest) -> None:
    mine = [one for one in request.session.stash[COLLECTED] if one.path == request.path]
    assert sorted(NAMED) == sorted(
        one.name for one in mine if one.get_closest_marker("exhaustive") is None
    )
