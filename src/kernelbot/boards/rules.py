"""Whether a board still takes submissions."""

from datetime import datetime


def has_ended(deadline: datetime | None, now: datetime) -> bool:
    """Whether a board's deadline has passed; None never does."""
    return deadline is not None and deadline <= now
