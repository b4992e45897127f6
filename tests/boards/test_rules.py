"""When a board has ended."""

from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.boards.rules import has_ended

NOW = datetime(2027, 1, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [(None, False), (NOW + MOMENT, False), (NOW, True), (NOW - MOMENT, True)],
)
def test_a_board_has_ended_from_its_deadline_on(deadline: datetime | None, expected: bool) -> None:
    assert expected == has_ended(deadline, NOW)
