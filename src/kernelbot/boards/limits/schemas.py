"""Rate limits of boards."""

from pydantic import Field

from kernelbot.schemas.common import RequestBody


class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: int = Field(ge=0, le=1_000_000, description="0: none are accepted.")
