"""What organisers did, as frozen values."""

from dataclasses import field
from datetime import datetime

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class AuditEntry:
    """What an organiser did."""

    id: int
    actor: str = field(metadata=described("The name at that time."))
    actor_id: int | None = field(metadata=described("Null once the account is deleted."))
    action: str
    subject: str
    detail: dict[str, str | int | float | bool | None]
    created_at: datetime
