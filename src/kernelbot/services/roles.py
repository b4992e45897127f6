"""Who may do what, asked by every service alike."""

from kernelbot.domain.errors import Banned, NotAllowed
from kernelbot.domain.types import Role, User


def require_admin(actor: User) -> None:
    """Raises `NotAllowed` for everyone but admins who aren't banned."""
    require_unbanned(actor)
    if actor.role is not Role.ADMIN:
        raise NotAllowed("Only an admin may do this.", hint="Ask an admin.")


def require_organiser(actor: User, board: str, creator_id: int) -> None:
    """Raises `NotAllowed` for everyone but the board's maker and admins."""
    require_unbanned(actor)
    if actor.role is not Role.ADMIN and actor.id != creator_id:
        raise NotAllowed(f"Only the organisers of {board!r} may do this.", hint="Ask an admin.")


def require_unbanned(actor: User) -> None:
    """Raises `Banned`."""
    if actor.banned_at is not None:
        raise Banned("This account is banned.", hint="Ask an admin.")
