"""The order of the tests."""

from pathlib import Path

import pytest

from tests.conftest import LONGEST


def test_those_that_take_longest_are_there() -> None:
    """If this fails, a file was renamed: say so in `conftest.py`, or a worker ends long after the
    others."""
    folder = Path(__file__).parent
    assert [] == [name for name in LONGEST if not (folder / name).exists()]


def test_they_come_first(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid.removeprefix("tests/") for item in request.session.items]
    are_long = [name.startswith(LONGEST) for name in names]
    assert sorted(are_long, reverse=True) == are_long
