"""Lists of rate limits."""

from kernelbot.boards.limits.model import RateLimit
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class LimitList:
    """A board's limits; a category that isn't listed has no limit."""

    limits: list[RateLimit]
