"""The log of what organisers did."""

from pydantic import Field

from kernelbot.moderation.audit.model import AuditEntry
from kernelbot.schemas.common import Answer


class AuditPage(Answer):
    """Entries, the newest first."""

    entries: list[AuditEntry]
    next_before_id: int | None = Field(description="For the next page; null on the last.")
