"""What is said of a duel, by what it showed."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kernelbot.duels.model import Duel, DuelReason, DuelState, Ratio, with_sentence
from kernelbot.protocol import DuelResult

DUEL = Duel(
    id=1,
    board="sort",
    device="CPU",
    reason=DuelReason.OWN_BEST,
    state=DuelState.WAITING,
    submission_id=7,
    author="ada",
    opponent_id=8,
    opponent="bob",
    ratio=None,
    note=None,
    refused=False,
    sentence="",
    created_at=datetime(2031, 2, 3, tzinfo=UTC),
    ended_at=None,
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "It waits for its turn."),
        ({"note": "it was cancelled"}, "It decides nothing: it was cancelled."),
        (
            {"refused": True, "reason": DuelReason.NEIGHBOURS, "note": "x"},
            "Submission 7 stands behind: it wasn't accepted in it.",
        ),
        ({"refused": True, "note": "it failed"}, "It decides nothing: it failed."),
        ({"reason": DuelReason.NEIGHBOURS, "note": "x"}, "It decides nothing: x."),
        (
            {"ratio": Ratio(0.9, 0.8, 0.99)},
            "Submission 7 is faster (ratio 0.900, 0.800 to 0.990).",
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
            {"ratio": Ratio(1.1, 1.01, 1.2)},
            "Submission 8 is faster (ratio 1.100, 1.010 to 1.200).",
        ),
    ],
)
def test_what_is_said(changes: dict[str, Any], sentence: str) -> None:
    assert sentence == with_sentence(replace(DUEL, **changes)).sentence


@pytest.mark.parametrize(
    ("ratio", "ends", "possible"),
    [
        (1.0, (1.0, 1.0), True),
        (1.0, (0.5, 2.0), True),
        (1.0, (0.0, 2.0), False),
        (1.0, (1.1, 2.0), False),
        (1.0, (0.5, 0.9), False),
        (1.0, (0.5, float("inf")), False),
        (float("nan"), (0.5, 2.0), False),
    ],
)
def test_a_ratio_lies_in_its_interval(
    ratio: float, ends: tuple[float, float], possible: bool
) -> None:
    found = Ratio.from_result(DuelResult(ratio, ends, ()))
    assert (Ratio(ratio, *ends) if possible else None) == found
    assert None is Ratio.from_result(None)
