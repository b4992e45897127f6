"""Who did what to what: every deed of an organiser is recorded in the transaction that does it."""

from collections.abc import Mapping

from kernelbot.domain.types import User
from kernelbot.store import audit
from kernelbot.store.database import WriteSession

Detail = Mapping[str, str | int | float | bool | None]


async def record(
    session: WriteSession, actor: User, action: str, subject: str, detail: Detail | None = None
) -> None:
    """Append to the log. `action` is `noun.verb`, `subject` is `noun:id`, e.g. `submission:12`."""
    await audit.record(
        session,
        actor_id=actor.id,
        actor=actor.name,
        action=action,
        subject=subject,
        detail=detail or {},
    )
