import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kernelbot.duels.model import Duel, DuelReason, DuelState, Ratio, with_sentence
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
        (1.0, 0.0, 2.0),
        (0.5, 0.4, math.inf),
    ],
)
def test_what_is_not_one(ratio: float, low: float, high: float) -> None:
    assert Ratio.from_result(DuelResult(ratio, (low, high), ())) is None


def test_a_ratio_may_be_its_interval() -> None:
    assert Ratio(0.5, 0.5, 0.5) == Ratio.from_result(DuelResult(0.5, (0.5, 0.5), ()))


DUEL = Duel(
    id=1,
    board="sort",
    device="CPU",
    reason=DuelReason.NEIGHBOURS,
    state=DuelState.WAITING,
    submission_id=2,
    author="ada",
    opponent_id=3,
    opponent="bob",
    ratio=None,
    note=None,
    refused=False,
    sentence="",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    ended_at=None,
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "It waits for its turn."),
        ({"note": "it was cancelled"}, "It decides nothing: it was cancelled."),
        ({"note": "x", "reason": DuelReason.OWN_BEST}, "It decides nothing: x."),
        ({"refused": True}, "Submission 2 stands behind: it wasn't accepted in it."),
        ({"refused": True, "note": "x"}, "Submission 2 stands behind: it wasn't accepted in it."),
        (
            {"refused": True, "note": "x", "reason": DuelReason.OWN_BEST},
            "It decides nothing: x.",
        ),
        (
            {"ratio": Ratio(0.9, 0.8, 0.999)},
            (
                "Submission 2 is faster, against the order of their scores, so this decides "
                "nothing (ratio 0.900, 0.800 to 0.999)."
            ),
        ),
        (
            {"ratio": Ratio(0.9, 0.8, 0.999), "reason": DuelReason.OWN_BEST},
            "Submission 2 is faster (ratio 0.900, 0.800 to 0.999).",
        ),
        (
            {"ratio": Ratio(0.99, 0.981, 0.9997), "reason": DuelReason.OWN_BEST},
            "Submission 2 is faster (ratio 0.990, 0.981 to 0.9997).",
        ),
        *(
            (
                {"ratio": Ratio(0.997, 0.995, 0.999), "reason": reason},
                (
                    "Submission 2 is faster, but by no more than 0.5 %, so this decides nothing "
                    "(ratio 0.997, 0.995 to 0.999)."
                ),
            )
            for reason in DuelReason
        ),
        (
            {"ratio": Ratio(1.005, 1.001, 1.009)},
            (
                "Submission 3 is faster, but by no more than 0.5 %, so this decides nothing "
                "(ratio 1.005, 1.001 to 1.009)."
            ),
        ),
        (
            {"ratio": Ratio(1.005, 1.001, 1.009), "reason": DuelReason.OWN_BEST},
            "Submission 3 is faster (ratio 1.005, 1.001 to 1.009).",
        ),
        (
            {"ratio": Ratio(1.006, 1.001, 1.009)},
            "Submission 3 is faster (ratio 1.006, 1.001 to 1.009).",
        ),
        (
            {"ratio": Ratio(0.9, 0.8, 1.0)},
            "It couldn't tell them apart (ratio 0.900, 0.800 to 1.000).",
        ),
        (
            {"ratio": Ratio(1.1, 1.0, 1.2)},
            "It couldn't tell them apart (ratio 1.100, 1.000 to 1.200).",
        ),
        (
            {"ratio": Ratio(1.1, 1.001, 1.2)},
            "Submission 3 is faster (ratio 1.100, 1.001 to 1.200).",
        ),
    ],
)
def test_a_sentence_says_what_came_of_it(changes: dict[str, Any], sentence: str) -> None:
    assert sentence == with_sentence(replace(DUEL, **changes), 1.005).sentence


def test_a_sentence_names_the_least_ratio_that_it_was_told() -> None:
    slight = replace(DUEL, ratio=Ratio(1.015, 1.001, 1.03))
    assert "by no more than 2 %, so" in with_sentence(slight, 1.02).sentence


def test_no_result_has_none() -> None:
    assert Ratio.from_result(None) is None
