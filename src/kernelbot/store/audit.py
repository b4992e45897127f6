"""The log of what organisers did."""

from collections.abc import Mapping
from typing import Any

from kernelbot.store.database import WriteSession
from kernelbot.store.jsontext import clean, dumps
from kernelbot.store.sqlfiles import statements


async def record(
    session: WriteSession,
    *,
    actor_id: int | None,
    actor: str,
    action: str,
    subject: str,
    detail: Mapping[str, Any],
) -> None:
    """Append one entry."""
    values = {
        "actor_id": actor_id,
        "actor": clean(actor),
        "action": action,
        "subject": clean(subject),
        "detail": dumps(detail),
    }
    await session.do(statements("audit")["record"], values)
