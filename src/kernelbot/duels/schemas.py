"""Duels of a board."""

from kernelbot.duels.model import Duel
from kernelbot.protocol.late import dataclass
from kernelbot.runs.samples.model import PairedWorkload


@dataclass(frozen=True)
class DuelSamples:
    """Every pair of a duel. Empty unless it was measured; on a board with `fixed_seed` and of duels
    that failed only admins see any."""

    duel_id: int
    workloads: list[PairedWorkload]


@dataclass(frozen=True)
class DuelList:
    """The newest first. Ask again with `before_id` for those before; null: that was all."""

    duels: list[Duel]
    next_before_id: int | None
