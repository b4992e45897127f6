import math

import pytest

from kernelbot.duels.model import Ratio
from kernelbot.protocol import DuelResult


def test_a_ratio_in_its_interval() -> None:
    assert Ratio(0.5, 0.4, 0.6) == Ratio.from_result(DuelResult(0.5, (0.4, 0.6), ()))


@pytest.mark.parametrize(
    ("ratio", "low", "high"),
    [
        (math.nan, 0.9, 1.0),
        (0.9, math.nan, 1.0),
        (0.9, 0.8, math.nan),
        (0.9, 0.95, 1.0),
        (0.9, 0.8, 0.85),
        (0.0, 0.0, 0.0),
        (-1.0, -2.0, 1.0),
        (0.5, 0.4, math.inf),
    ],
)
def test_what_is_not_one(ratio: float, low: float, high: float) -> None:
    assert Ratio.from_result(DuelResult(ratio, (low, high), ())) is None


def test_no_result_has_none() -> None:
    assert Ratio.from_result(None) is None
