"""Who gets an account, and under which name, if a provider says who they are."""

import secrets

from kernelbot.accounts import store as users
from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import ProviderPerson
from kernelbot.accounts.model import Role, User
from kernelbot.boards.invites.service import claim_invite
from kernelbot.domain.errors import NotAllowed
from kernelbot.domain.next_steps import Next
from kernelbot.store.database import WriteSession

_NAME_MAX = 64


async def enter(
    session: WriteSession,
    registration: Registration,
    provider: str,
    person: ProviderPerson,
    invite: str | None = None,
) -> User:
    """The account of a person at a provider, created the first time; `invite` is claimed. The
    session must have locked identities. Raises `NotAllowed` if nobody may register."""
    user = await users.by_identity(session, provider, person.subject)
    if user is None:
        user = await _register(session, registration, provider, person, invite)
    if invite:
        await claim_invite(session, user, invite)
    return user


async def _register(
    session: WriteSession,
    registration: Registration,
    provider: str,
    person: ProviderPerson,
    invite: str | None,
) -> User:
    if registration is Registration.CLOSED:
        raise NotAllowed(
            "No new accounts are made here by logging in.", next_step=Next.ASK_ORGANISERS
        )
    if registration is Registration.INVITE and not invite:
        raise NotAllowed("A new account needs an invite here.", hint="Type yours where you log in.")
    user = None
    for name in _names(person):
        user = user or await users.create(session, name, Role.COMPETITOR)
    assert user is not None, "eight random bytes aren't somebody's name already"
    await users.add_identity(session, user.id, provider=provider, subject=person.subject)
    return user


def _names(person: ProviderPerson) -> tuple[str, ...]:
    """The provider's name for them as a valid name here, and others in case it is taken."""
    printable = "".join(c for c in person.name if c.isprintable()).strip()
    shown = printable[:_NAME_MAX].strip() or "someone"
    stem = shown[: _NAME_MAX - 17].strip()
    tries = [f"{stem}-{number}" for number in range(2, 10)]
    return (shown, *tries, f"{stem}-{secrets.token_hex(8)}")
