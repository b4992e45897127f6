"""Invites to closed boards."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Invite:
    """Opens its boards to one person. The `claimed` values are None until someone claims it."""

    code: str
    boards: tuple[str, ...]
    created_at: datetime
    claimed_by: str | None
    claimed_by_id: int | None
    claimed_at: datetime | None
