"""Rate limits of boards."""

from dataclasses import field
from enum import StrEnum

from kernelbot.domain.values import described
from kernelbot.protocol import Mode
from kernelbot.protocol.late import dataclass

MAX_PER_HOUR = 1_000_000
"""No limit is larger."""


class LimitCategory(StrEnum):
    """What a rate limit counts together: ranked submissions, or all others."""

    TEST = "test"
    LEADERBOARD = "leaderboard"

    @classmethod
    def for_mode(cls, mode: Mode) -> "LimitCategory":
        """The category that a submission in this mode counts for."""
        return cls.LEADERBOARD if mode is Mode.LEADERBOARD else cls.TEST


@dataclass(frozen=True)
class RateLimit:
    """How many submissions of a category each author may make within an hour."""

    category: LimitCategory
    max_per_hour: int = field(metadata=described("0: none are accepted."))
