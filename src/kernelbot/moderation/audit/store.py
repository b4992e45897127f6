"""The log of what organisers did."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelbot.moderation.audit.model import AuditEntry
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.jsontext import clean, dumps
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class AuditFilter:
    """Which entries; None: any. `action` may be a noun, for all of its verbs."""

    subject: str | None = None
    actor: str | None = None
    action: str | None = None
    before_id: int | None = None


async def page(session: ReadSession, wanted: AuditFilter, limit: int) -> list[AuditEntry]:
    values = {**vars(wanted), "limit": limit}
    rows = await session.all(statements(__file__)["page"], values)
    return [from_row(AuditEntry, row) for row in rows]


async def record(
    session: WriteSession,
    *,
    actor_id: int | None,
    actor: str,
    action: str,
    subject: str,
    detail: Mapping[str, Any],
) -> None:
    values = {
        "actor_id": actor_id,
        "actor": clean(actor),
        "action": action,
        "subject": clean(subject),
        "detail": dumps(detail),
    }
    await session.do(statements(__file__)["record"], values)
