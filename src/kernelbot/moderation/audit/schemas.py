"""The log of what organisers did."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.moderation.audit.model import AuditEntry
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class AuditPage:
    """Entries, the newest first."""

    entries: list[AuditEntry]
    next_before_id: int | None = field(metadata=described("For the next page; null on the last."))
