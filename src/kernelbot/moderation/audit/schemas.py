"""The log of what organisers did."""

from datetime import datetime

from pydantic import Field

from kernelbot.schemas.common import Answer, Shown


class AuditEntryView(Shown):
    """What an organiser did."""

    id: int
    actor: str
    actor_id: int | None
    action: str
    subject: str
    detail: dict[str, str | int | float | bool | None]
    created_at: datetime


class AuditPage(Answer):
    """Entries, the newest first."""

    entries: list[AuditEntryView]
    next_before_id: int | None = Field(description="For the next page; null on the last.")
