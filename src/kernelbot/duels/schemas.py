"""Duels of a board."""

from kernelbot.duels.model import Duel
from kernelbot.runs.samples.model import PairedWorkload
from kernelbot.schemas.common import Answer


class DuelSamples(Answer):
    """Every pair of a duel. Empty unless it was measured; on a board with `fixed_seed` and of duels
    that failed only admins see any."""

    duel_id: int
    workloads: list[PairedWorkload]


class DuelList(Answer):
    """The newest first. Ask again with `before_id` for those before; null: that was all."""

    duels: list[Duel]
    next_before_id: int | None
