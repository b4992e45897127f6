"""Rejudging a board."""

from datetime import datetime

from pydantic import Field

from kernelbot.protocol import Verdict
from kernelbot.schemas.common import Name, RequestBody, Shown


class NewRejudge(RequestBody):
    """What to measure again."""

    device: Name | None = Field(default=None, description="Default: the board's first.")
    top: int | None = Field(
        default=None, ge=1, le=100_000, description="How many of the best. Default: all."
    )


class RejudgedRunView(Shown):
    """One of the best, measured again."""

    submission_id: int
    author: str
    before_s: float
    after_s: float | None = Field(description="Null until measured, or if it isn't accepted.")
    verdict: Verdict | None


class RejudgeView(Shown):
    """A board's best, measured again; the ranking changes once all of them have ended."""

    id: int
    board: str
    device: str
    created_at: datetime
    finished_at: datetime | None
    runs: list[RejudgedRunView]
