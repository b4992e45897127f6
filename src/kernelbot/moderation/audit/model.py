"""What organisers did, as frozen values."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class AuditEntry:
    """What an organiser did. `actor` is the name at that time."""

    id: int
    actor: str
    actor_id: int | None
    """None once the account is deleted."""
    action: str
    subject: str
    detail: dict[str, str | int | float | bool | None]
    created_at: datetime
