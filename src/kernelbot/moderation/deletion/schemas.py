"""What is deleted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Deleted:
    """How many submissions were deleted."""

    submissions: int
