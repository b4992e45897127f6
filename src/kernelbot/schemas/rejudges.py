"""Rejudging a board."""

from datetime import datetime

from pydantic import Field

from kernelbot.domain.types import Rejudge
from kernelbot.protocol import Verdict
from kernelbot.schemas.common import Answer, Name, RequestBody


class NewRejudge(RequestBody):
    """What to measure again."""

    device: Name | None = Field(default=None, description="Default: the board's first.")
    top: int | None = Field(
        default=None, ge=1, le=100_000, description="Only so many of the best. Default: all."
    )


class RejudgedRunView(Answer):
    """One of the best, measured again."""

    submission_id: int
    author: str
    before_s: float
    after_s: float | None = Field(description="Null until measured, or where it isn't accepted.")
    verdict: Verdict | None


class RejudgeView(Answer):
    """A board's best, measured again in one go; the ranking follows once all have ended."""

    id: int
    board: str
    device: str
    created_at: datetime
    finished_at: datetime | None
    runs: list[RejudgedRunView]

    @classmethod
    def of(cls, rejudge: Rejudge) -> "RejudgeView":
        """The domain's rejudge."""
        runs = [
            RejudgedRunView(
                submission_id=run.submission_id,
                author=run.author,
                before_s=run.before_s,
                after_s=run.after_s,
                verdict=run.verdict,
            )
            for run in rejudge.runs
        ]
        return cls(
            id=rejudge.id,
            board=rejudge.board,
            device=rejudge.device,
            created_at=rejudge.created_at,
            finished_at=rejudge.finished_at,
            runs=runs,
        )
