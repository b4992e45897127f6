"""Invites to closed boards."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class Invite:
    """An invite, which opens its boards to one person, and who claimed it."""

    code: str | None = field(
        metadata=described("Null: it also opens boards that you don't organise.")
    )
    boards: tuple[str, ...] = field(metadata=described("Those of its boards that you organise."))
    created_at: datetime
    claimed_by: str | None
    claimed_by_id: int | None
    claimed_at: datetime | None


@dataclass(frozen=True)
class NewInvites:
    """Invites just made."""

    boards: tuple[str, ...]
    codes: tuple[str, ...] = field(repr=False)
