"""Rejudging a board."""

from pydantic import Field

from kernelbot.schemas.common import Name, RequestBody


class NewRejudge(RequestBody):
    """What to measure again."""

    device: Name | None = Field(default=None, description="Default: the board's first.")
    top: int | None = Field(
        default=None, ge=1, le=100_000, description="How many of the best. Default: all."
    )
