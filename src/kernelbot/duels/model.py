"""Duels: two kernels whose times are too close to compare are called in turn."""

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kernelbot.protocol import DuelResult


class DuelReason(StrEnum):
    """What a duel decides: whether a run replaces its author's best, or whether neighbours in a
    ranking share a rank."""

    OWN_BEST = "own_best"
    NEIGHBOURS = "neighbours"


class DuelState(StrEnum):
    """Of a duel: waiting -> measured | failed. It waits until its run has ended; what that does
    meanwhile, the run's own state says. `FAILED`: there is no ratio, so it decides nothing."""

    WAITING = "waiting"
    MEASURED = "measured"
    FAILED = "failed"


DUEL_TRANSITIONS: dict[DuelState, frozenset[DuelState]] = {
    DuelState.WAITING: frozenset({DuelState.MEASURED, DuelState.FAILED}),
    DuelState.MEASURED: frozenset(),
    DuelState.FAILED: frozenset(),
}


@dataclass(frozen=True)
class Ratio:
    """The submission's time divided by the opponent's, with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, result: DuelResult | None) -> "Ratio | None":
        """None if there is none, or what was told can't be one."""
        if result is None:
            return None
        low, high = result.ratio_ci95
        possible = 0 < low <= result.ratio <= high < math.inf  # False for NaN
        return cls(result.ratio, low, high) if possible else None

    @property
    def text(self) -> str:
        """For people: `0.998, 0.991 to 1.004`."""
        return f"{self.value:.3f}, {self.low:.3f} to {self.high:.3f}"


@dataclass(frozen=True)
class Duel:
    """A duel on a board's device. `submission_id`: which wants to pass, or stands behind."""

    id: int
    board: str
    device: str
    reason: DuelReason
    state: DuelState
    submission_id: int
    author: str
    opponent_id: int
    opponent: str
    """The name of the opponent's author."""
    ratio: Ratio | None
    """None unless measured."""
    note: str | None
    """Why there is no ratio; None unless failed."""
    refused: bool
    """Whether `submission_id` wasn't accepted in it: then it doesn't share its neighbour's rank."""
    created_at: datetime
    ended_at: datetime | None

    @property
    def sentence(self) -> str:
        """What came of it."""
        if self.refused and self.reason is DuelReason.NEIGHBOURS:
            return f"Submission {self.submission_id} stands behind: it wasn't accepted in it."
        if self.ratio is None:
            return f"It decides nothing: {self.note}." if self.note else "It waits for its turn."
        if self.ratio.high < 1:
            outcome = f"Submission {self.submission_id} is faster"
        elif self.ratio.low > 1:
            outcome = f"Submission {self.opponent_id} is faster"
        else:
            outcome = "It couldn't tell them apart"
        return f"{outcome} (ratio {self.ratio.text})."
