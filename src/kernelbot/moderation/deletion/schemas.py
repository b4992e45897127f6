"""What is deleted."""

from kernelbot.schemas.common import Answer


class Deleted(Answer):
    """How many submissions were deleted."""

    submissions: int
