"""Duels of a board."""

from datetime import datetime

from pydantic import Field

from kernelbot.duels.model import Duel, DuelReason, DuelState
from kernelbot.protocol import DuelWorkload
from kernelbot.runs.samples.model import DueledWorkload, workload_name
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


class PairedWorkload(Answer):
    """One workload of a duel; times in nanoseconds, in pairs, in the order they were taken."""

    workload: int = Field(description="Counted from 0, in the problem's order.")
    spec: str | None = Field(description="Null for all but admins: the data is secret.")
    ratio: float = Field(description="The median of the pairs' ratios.")
    ratio_ci95: tuple[float, float]
    stopped_by: str
    submission_ns: list[float]
    opponent_ns: list[float]
    processes: int = Field(
        1, description="So many pairs of processes took the samples in turn, as in a measurement."
    )

    def shown(self) -> DuelWorkload:
        """As it is drawn for people."""
        return DuelWorkload(
            workload_name(self.workload, self.spec),
            tuple(self.submission_ns),
            tuple(self.opponent_ns),
            self.ratio,
            self.ratio_ci95,
            self.stopped_by,
            self.processes,
        )


class DuelSamples(Answer):
    """Every pair of a duel. Empty unless it was measured; on a board with `fixed_seed` and of duels
    that failed only admins see any."""

    duel_id: int
    workloads: list[PairedWorkload]

    @classmethod
    def of(cls, duel_id: int, measured: list[DueledWorkload]) -> "DuelSamples":
        """What was timed in the duel."""
        workloads = [
            PairedWorkload(
                workload=load.index,
                spec=load.spec,
                ratio=load.pairs.ratio,
                ratio_ci95=load.pairs.ratio_ci95,
                stopped_by=load.pairs.stopped_by,
                submission_ns=list(load.pairs.submission_ns),
                opponent_ns=list(load.pairs.opponent_ns),
                processes=load.pairs.processes,
            )
            for load in measured
        ]
        return cls(duel_id=duel_id, workloads=workloads)


class DuelList(Answer):
    """The newest first. Ask again with `before_id` for those before; null: that was all."""

    duels: list[DuelView]
    next_before_id: int | None

    @classmethod
    def of(cls, duels: list[Duel], limit: int) -> "DuelList":
        """A page of at most `limit`."""
        views = [DuelView.of(duel) for duel in duels]
        return cls(duels=views, next_before_id=duels[-1].id if len(duels) == limit else None)
