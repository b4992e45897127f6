"""Measuring a board's best again, as frozen values."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol import Verdict
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class RejudgedRun:
    """A run among the best, measured again."""

    submission_id: int
    author: str
    before_s: float
    after_s: float | None = field(
        metadata=described("Null until measured, or if it isn't accepted.")
    )
    verdict: Verdict | None


@dataclass(frozen=True)
class Rejudge:
    """A board's best, measured again; the ranking changes once all of them have ended."""

    id: int
    board: str
    device: str
    created_at: datetime
    finished_at: datetime | None
    runs: tuple[RejudgedRun, ...]
