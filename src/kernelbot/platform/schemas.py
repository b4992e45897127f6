"""The platform's state."""

from pydantic import Field

from kernelbot.schemas.common import Shown


class PlatformView(Shown):
    """Whether submissions are taken."""

    accepts_jobs: bool
    reason: str = Field(description="Why not; empty when they are.")
