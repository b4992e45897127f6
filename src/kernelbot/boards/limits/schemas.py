"""Rate limits of boards."""

from pydantic import Field

from kernelbot.boards.limits.model import RateLimit
from kernelbot.schemas.common import Answer, RequestBody


class LimitList(Answer):
    """A board's limits; a category that isn't listed has no limit."""

    limits: list[RateLimit]


class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: int = Field(ge=0, le=1_000_000, description="0: none are accepted.")
