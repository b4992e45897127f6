from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.render.time_left import ends_soon, time_left

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=3, hours=5), "3 days"),
        (timedelta(days=1, hours=5), "29 hours"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(seconds=61), "1 minute"),
        (timedelta(seconds=59), "less than a minute"),
        (timedelta(0), ""),
        (timedelta(days=-1), ""),
    ],
)
def test_how_long_it_is(left: timedelta, words: str) -> None:
    assert words == time_left(NOW + left, NOW)


def test_what_ends_soon_has_not_ended() -> None:
    ends = [None, *(NOW + timedelta(days=days) for days in (-1, 0, 1, 14, 15))]
    assert [False, False, False, True, True, False] == [ends_soon(end, NOW) for end in ends]
