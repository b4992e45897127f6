"""What is deleted."""

from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class Deleted:
    """How many submissions were deleted."""

    submissions: int
