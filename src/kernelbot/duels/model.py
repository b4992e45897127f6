"""Duels: two kernels whose times are too close to compare are called in turn."""

import math
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.values import described
from kernelbot.protocol import DuelResult
from kernelbot.protocol.late import dataclass


class DuelReason(StrEnum):
    """What a duel decides: whether a run replaces its author's best, or whether neighbours in a
    ranking share a rank."""

    OWN_BEST = "own_best"
    NEIGHBOURS = "neighbours"


class DuelState(StrEnum):
    """How far a duel is: waiting -> measured | failed. It waits until its run has ended; what that
    does meanwhile, the run's own state says. `FAILED`: there is no ratio, so it decides nothing."""

    WAITING = "waiting"
    MEASURED = "measured"
    FAILED = "failed"


DUEL_TRANSITIONS: dict[DuelState, frozenset[DuelState]] = {
    DuelState.WAITING: frozenset({DuelState.MEASURED, DuelState.FAILED}),
    DuelState.MEASURED: frozenset(),
    DuelState.FAILED: frozenset(),
}

_MOST_DIGITS = 9
"""Of a ratio, behind the point."""


def ratio_text(ratio: float) -> str:
    """A ratio with as many digits as one near 1 needs: one that isn't 1 isn't written as 1."""
    if ratio >= 10:
        return f"{ratio:.3g}"
    digits = 3
    while digits < _MOST_DIGITS and ratio != 1 and float(f"{ratio:.{digits}f}") == 1:
        digits += 1
    return f"{ratio:.{digits}f}"


@dataclass(frozen=True)
class Ratio:
    """The submission's time divided by the opponent's, with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def from_result(cls, result: DuelResult | None) -> "Ratio | None":
        """None if there is none, or what was told can't be one."""
        if result is None:
            return None
        low, high = result.ratio_ci95
        possible = 0 < low <= result.ratio <= high < math.inf  # False for NaN
        return cls(result.ratio, low, high) if possible else None

    @property
    def text(self) -> str:
        """For people: `0.998, 0.991 to 1.004`."""
        return f"{ratio_text(self.value)}, {ratio_text(self.low)} to {ratio_text(self.high)}"


@dataclass(frozen=True)
class Duel:
    """Two submissions whose kernels are called in turn, because their scores are too close."""

    id: int
    board: str
    device: str
    reason: DuelReason = field(
        metadata=described(
            "Whether the submission replaces its author's best, or whether neighbours in the "
            "ranking share a rank."
        )
    )
    state: DuelState
    submission_id: int = field(metadata=described("Which wants to pass, or stands behind."))
    author: str
    opponent_id: int
    opponent: str = field(metadata=described("The name of the opponent's author."))
    ratio: Ratio | None = field(metadata=described("Null unless measured."))
    note: str | None = field(metadata=described("Why there is no ratio; null unless failed."))
    refused: bool = field(
        metadata=described(
            "Whether `submission_id` wasn't accepted in it: then it doesn't share its neighbour's "
            "rank."
        )
    )
    sentence: str = field(metadata=described("What came of it."))
    created_at: datetime
    ended_at: datetime | None
    author_page_id: int | None = field(
        default=None,
        metadata=described("By which the author's page is found; null: they keep it private."),
    )
    opponent_page_id: int | None = field(
        default=None, metadata=described("The same of the opponent's author.")
    )


def with_sentence(duel: Duel, least_ratio: float) -> Duel:
    """The duel with the sentence that its other fields say. `least_ratio`: only one that is further
    from 1 decides."""
    return replace(duel, sentence=_sentence(duel, least_ratio))


def _sentence(duel: Duel, least_ratio: float) -> str:
    if duel.refused and duel.reason is DuelReason.NEIGHBOURS:
        return f"Submission {duel.submission_id} stands behind: it wasn't accepted in it."
    if duel.ratio is None:
        return f"It decides nothing: {duel.note}." if duel.note else "It waits for its turn."
    return f"{_outcome(duel, duel.ratio, least_ratio)} (ratio {duel.ratio.text})."


def _outcome(duel: Duel, ratio: Ratio, least_ratio: float) -> str:
    """Who is faster, and why this decides nothing if it doesn't."""
    if ratio.low <= 1 <= ratio.high:
        return "It couldn't tell them apart"
    wins, neighbours = ratio.high < 1, duel.reason is DuelReason.NEIGHBOURS
    faster = f"Submission {duel.submission_id if wins else duel.opponent_id} is faster"
    if (wins or neighbours) and max(ratio.value, 1 / ratio.value) <= least_ratio:
        least = 100 * (least_ratio - 1)
        return f"{faster}, but by no more than {least:.3g} %, so this decides nothing"
    if wins and neighbours:
        return f"{faster}, against the order of their scores, so this decides nothing"
    return faster
