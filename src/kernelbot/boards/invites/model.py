"""Invites to closed boards."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Invite:
    """An invite, which opens its boards to one person, and who claimed it."""

    code: str
    boards: tuple[str, ...]
    created_at: datetime
    claimed_by: str | None
    claimed_by_id: int | None
    claimed_at: datetime | None


@dataclass(frozen=True)
class NewInvites:
    """Invites just made."""

    boards: tuple[str, ...]
    codes: tuple[str, ...] = field(repr=False)
