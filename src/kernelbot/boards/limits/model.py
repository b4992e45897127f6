"""Rate limits of boards."""

from dataclasses import dataclass
from enum import StrEnum

from kernelbot.protocol import Mode


class LimitCategory(StrEnum):
    """What a rate limit counts together: ranked submissions, or all others."""

    TEST = "test"
    LEADERBOARD = "leaderboard"

    @classmethod
    def of(cls, mode: Mode) -> "LimitCategory":
        """The category that a submission in this mode counts for."""
        return cls.LEADERBOARD if mode is Mode.LEADERBOARD else cls.TEST


@dataclass(frozen=True)
class RateLimit:
    """How many submissions of a category an author may make to a board within an hour."""

    category: LimitCategory
    max_per_hour: int
    """0: none at all."""
