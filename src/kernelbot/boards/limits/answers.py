"""Lists of rate limits."""

from dataclasses import dataclass

from kernelbot.boards.limits.model import RateLimit


@dataclass(frozen=True)
class LimitList:
    """A board's limits; a category that isn't listed has no limit."""

    limits: list[RateLimit]
