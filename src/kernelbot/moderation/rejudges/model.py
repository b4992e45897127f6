"""Measuring a board's best again, as frozen values."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.protocol import Verdict


@dataclass(frozen=True)
class RejudgedRun:
    """One of the best, measured again. `after_s` is None until then, or if it failed this time."""

    submission_id: int
    author: str
    before_s: float
    after_s: float | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Rejudge:
    """A board's best on one device, measured again in one go; the ranking follows at the end."""

    id: int
    board: str
    device: str
    created_at: datetime
    finished_at: datetime | None
    runs: tuple[RejudgedRun, ...]
