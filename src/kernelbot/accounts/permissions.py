"""Who may do what: the checks that all services use."""

from kernelbot.accounts.model import Role, User
from kernelbot.domain.errors import Banned, NotAllowed
from kernelbot.domain.next_steps import Next


def is_admin(actor: User | None) -> bool:
    """Whether this is an admin who isn't banned."""
    return actor is not None and actor.role is Role.ADMIN and actor.banned_at is None


def organises(actor: User | None, creator_id: int) -> bool:
    """Whether the actor organises a board that this person created: admins do, and the creator
    while they have that role. A banned person never does."""
    if actor is None or actor.banned_at is not None:
        return False
    return is_admin(actor) or (actor.role is Role.CREATOR and actor.id == creator_id)


def require_admin(actor: User) -> None:
    """Raises `NotAllowed` for everyone but admins who aren't banned."""
    require_unbanned(actor)
    if not is_admin(actor):
        raise NotAllowed("Only an admin may do this.", next_step=Next.ASK_ADMIN)


def require_organiser(actor: User, board: str, creator_id: int) -> None:
    """Raises `NotAllowed`, which names the board, for everyone who doesn't organise it: so check
    first that the actor can see the board."""
    require_unbanned(actor)
    if not organises(actor, creator_id):
        raise NotAllowed(f"Only the organisers of {board!r} may do this.", next_step=Next.ASK_ADMIN)


def require_unbanned(actor: User) -> None:
    """Raises `Banned`."""
    if actor.banned_at is not None:
        raise Banned("This account is banned.", next_step=Next.ASK_ADMIN)


def require_creator(actor: User) -> None:
    """Raises `NotAllowed` for competitors, who can't create boards, and `Banned`."""
    require_unbanned(actor)
    if actor.role is Role.COMPETITOR:
        raise NotAllowed("Only creators and admins open boards.", next_step=Next.ASK_ADMIN)
