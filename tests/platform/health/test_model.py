"""Whether submissions are judged."""

import pytest

from kernelbot.platform.health.model import Readiness, ReadinessPart

UP, DOWN = ReadinessPart("up", True, ""), ReadinessPart("down", False, "away")


@pytest.mark.parametrize(
    ("readiness", "judges"),
    [
        (Readiness((UP,), UP, (UP, DOWN)), True),
        (Readiness((UP,), UP, (DOWN, DOWN)), False),
        (Readiness((UP,), UP, ()), False),
        (Readiness((UP,), DOWN, (UP,)), False),
        (Readiness((DOWN,), UP, (UP,)), False),
        (Readiness((UP,)), False),
    ],
)
def test_one_device_is_enough_to_judge(readiness: Readiness, judges: bool) -> None:
    assert judges == readiness.judges


def test_what_is_away_is_named_all_the_same() -> None:
    assert (UP, UP, UP, DOWN) == Readiness((UP,), UP, (UP, DOWN)).everything
