"""Who did what: every action of an organiser is recorded in the transaction that does it."""

from collections.abc import Mapping

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.moderation.audit import store as audit
from kernelbot.moderation.audit.model import AuditEntry
from kernelbot.store.database import Database, WriteSession

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


class Audit:
    """The log, for admins to read; entries are never deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_entries(
        self,
        viewer: User,
        *,
        subject: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        before_id: int | None = None,
        limit: int = PAGE_ROWS,
    ) -> list[AuditEntry]:
        """Entries, the newest first; `action` may be a noun alone: `user` for `user.ban` and all
        other `user.*`. Raises `NotAllowed`."""
        require_admin(viewer)
        wanted = audit.AuditFilter(subject, actor, action, before_id)
        async with self._database.read() as session:
            return await audit.page(session, wanted, limit)
