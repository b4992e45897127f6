"""Duels of a board."""

from datetime import datetime

from pydantic import Field

from kernelbot.domain.duels import Duel, DuelReason, DuelState
from kernelbot.schemas.common import Answer, Shown


class RatioView(Shown):
    """The submission's time divided by the opponent's, with its 95 % interval."""

    value: float
    low: float
    high: float


class DuelView(Shown):
    """Two submissions whose kernels are called in turn, because their scores are too close."""

    id: int
    board: str
    device: str
    reason: DuelReason = Field(
        description="Whether the submission replaces its author's best, or whether neighbours in "
        "the ranking share a rank."
    )
    state: DuelState
    submission_id: int = Field(description="Which wants to pass, or stands behind.")
    author: str
    opponent_id: int
    opponent: str = Field(description="The name of the opponent's author.")
    ratio: RatioView | None = Field(description="Null unless measured.")
    note: str | None = Field(description="Why there is no ratio; null unless failed.")
    refused: bool = Field(
        description="Whether `submission_id` wasn't accepted in it: then it doesn't share its "
        "neighbour's rank."
    )
    sentence: str = Field(description="What came of it.")
    created_at: datetime
    ended_at: datetime | None


class DuelList(Answer):
    """The newest first. Ask again with `before_id` for those before; null: that was all."""

    duels: list[DuelView]
    next_before_id: int | None

    @classmethod
    def of(cls, duels: list[Duel], limit: int) -> "DuelList":
        """A page of at most `limit`."""
        views = [DuelView.of(duel) for duel in duels]
        return cls(duels=views, next_before_id=duels[-1].id if len(duels) == limit else None)
