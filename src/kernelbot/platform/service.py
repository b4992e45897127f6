"""Pausing and resuming the whole platform."""

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.domain.errors import Paused, UserError
from kernelbot.moderation.audit import service as audit
from kernelbot.platform import store as platform
from kernelbot.platform.model import PlatformState
from kernelbot.store.database import Database

_REASON_MAX = 500
COPY_NOTE = (
    "This is a restored copy: it judges nothing and tells nobody (no launchers, webhooks or"
    " Discord) until it is activated with `kernelbot db activate`."
)


class Platform:
    """During a pause no new submissions are accepted; earlier ones are still judged."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def state(self) -> PlatformState:
        """Whether submissions are taken just now."""
        async with self._database.read() as session:
            return await platform.state(session)

    async def is_copy(self) -> bool:
        """Whether this is a restored copy that nobody has activated."""
        async with self._database.read() as session:
            return await platform.is_copy(session)

    async def pause(self, actor: User, reason: str = "") -> PlatformState:
        """Accept no more submissions, also after a restart. Repeated, it replaces the reason.

        Raises `NotAllowed`, `UserError` for a reason that is too long.
        """
        reason = reason.strip()
        if len(reason) > _REASON_MAX or "\x00" in reason:
            raise UserError(f"A reason has at most {_REASON_MAX} characters, and no NUL.")
        return await self._set(actor, PlatformState(False, reason), "platform.pause")

    async def resume(self, actor: User) -> PlatformState:
        """Accept submissions again. Raises `NotAllowed`."""
        return await self._set(actor, PlatformState(True, ""), "platform.resume")

    async def _set(self, actor: User, wanted: PlatformState, action: str) -> PlatformState:
        require_admin(actor)
        async with self._database.write() as session:
            await platform.set_state(session, wanted)
            await audit.record(session, actor, action, "platform", {"reason": wanted.reason})
        return wanted


def check_accepting(state: PlatformState) -> None:
    """Raises `Paused` while no submissions are taken."""
    if not state.accepts_jobs:
        reason = f": {state.reason.rstrip('.')}" if state.reason else ""
        raise Paused(
            f"Submissions are paused just now{reason}.", hint="Try again later; nothing is lost."
        )
