"""Rate limits of boards."""

from pydantic import Field

from kernelbot.boards.limits.model import LimitCategory
from kernelbot.schemas.common import Answer, RequestBody, Shown


class LimitView(Shown):
    """How many submissions of a category each author may make within an hour."""

    category: LimitCategory
    max_per_hour: int = Field(description="0: none are accepted.")


class LimitList(Answer):
    """A board's limits; a category that isn't listed has no limit."""

    limits: list[LimitView]


class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: int = Field(ge=0, le=1_000_000, description="0: none are accepted.")
