"""Accounts and their tokens."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace

from kernelbot.accounts import store as users
from kernelbot.accounts.logins.model import Identity
from kernelbot.accounts.model import AuthorPage, NewToken, Role, User
from kernelbot.accounts.permissions import require_admin, require_unbanned
from kernelbot.accounts.tokens import store as tokens
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.accounts.tokens.text import new_token, setting_hash, token_hash
from kernelbot.domain.errors import Conflict, NotAuthenticated, NotFound, UserError
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.store.database import Database, ReadSession, WriteSession

_ORGANISER = ("kernelbot", "ADMIN_TOKEN")
"""Provider and subject of the identity that ADMIN_TOKEN stands for."""
MACHINE = "machine"
"""Provider of the identities of those who serve; nobody logs in by one. The subject is the number
of the account and the name of the token that its machine has."""

_NAME = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,62}[^\s\x00-\x1f\x7f])?")


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, name: str, role: Role = Role.COMPETITOR, *, actor: User | None = None
    ) -> NewToken:
        """A new account with its first token, whose text is returned only now. `actor` None: the
        platform itself creates it; else the actor must be an admin.

        Raises `Conflict` when the name is taken, `UserError` when it can't be a name,
        `NotAllowed`.
        """
        if actor is not None:
            require_admin(actor)
        _check_name(name)
        token = new_token()
        async with self._database.write() as session:
            user = await users.create(session, name, role)
            if user is None:
                raise _name_conflict(name)
            await users.add_token(session, user.id, name="first", token_hash=token_hash(token))
            if actor is not None:
                detail = {"name": name, "role": role.value}
                await audit.record(session, actor, "user.create", f"user:{user.id}", detail)
        return NewToken(user, token)

    async def authenticate(self, token: str, kind: TokenKind = TokenKind.TOKEN) -> User:
        """The account of the token, or of the browser's session. Raises `NotAuthenticated`, also
        for one of another kind. Banned people may still log in, as competitors: they can read what
        is theirs, and `Submissions.submit` refuses them."""
        async with self._database.read() as session:
            user = await users.by_token(session, token_hash(token), kind)
        if user is None:
            raise NotAuthenticated("The token isn't valid here.", next_step=Next.LOG_IN)
        return user if user.banned_at is None else replace(user, role=Role.COMPETITOR)

    async def sign_in(self, name: str, role: Role, *, token_name: str) -> NewToken:
        """A token for the account of that name, which is created if there is none yet.

        For the operator's own account on the machine that serves; no door calls it. If the account
        is an admin, nobody takes that from it while one of its tokens of that name is valid.
        """
        _check_name(name)
        token = new_token()
        async with self._database.write() as session:
            user = await users.create(session, name, role) or await users.by_name(session, name)
            if user is None:
                raise Conflict(f"{name!r} was deleted a moment ago.", next_step=Next.TRY_AGAIN)
            await users.add_token(session, user.id, name=token_name, token_hash=token_hash(token))
            if user.role is Role.ADMIN:
                subject = f"{user.id}:{token_name}"
                await users.add_identity(session, user.id, provider=MACHINE, subject=subject)
        return NewToken(user, token)

    async def organiser(self) -> User:
        """The account that ADMIN_TOKEN stands for, created the first time, so that the audit log
        can name it. It is found by its identity, so choosing its name takes nothing over."""
        async with self._database.read() as session:
            found = await users.by_identity(session, *_ORGANISER)
        if found is not None:
            return found
        async with self._database.write() as session:
            return await _make_organiser(session)

    async def admin_token_is(self, admin_token: str | None) -> None:
        """What was made with any other ADMIN_TOKEN ends; None: there is none."""
        kept = setting_hash(admin_token) if admin_token else None
        async with self._database.write() as session:
            await tokens.forget_settings(session, kept)

    async def list_users(
        self, actor: User, *, search: str | None = None, limit: int = PAGE_ROWS, after_id: int = 0
    ) -> list[User]:
        """Accounts in the order of their numbers, whose name contains `search`. Raises
        `NotAllowed`."""
        require_admin(actor)
        async with self._database.read() as session:
            return await users.page(session, search=search, limit=limit, after_id=after_id)

    async def find(self, actor: User, reference: str) -> User:
        """The account of a name, a number, or a `provider:subject`. Raises `NotFound`,
        `NotAllowed`."""
        require_admin(actor)
        async with self._database.read() as session:
            return await _find(session, reference)

    async def with_identities(
        self, actor: User, provider: str, subjects: Sequence[str]
    ) -> dict[str, User]:
        """The accounts of a provider's ids, by those that have one. Raises `NotAllowed`."""
        require_admin(actor)
        async with self._database.read() as session:
            return await users.by_identities(session, provider, subjects)

    async def get(self, actor: User, user_id: int) -> User:
        """The account of this number. Raises `NotFound`, `NotAllowed`."""
        require_admin(actor)
        async with self._database.read() as session:
            return await _by_id(session, user_id)

    async def identities(self, owner: User) -> list[Identity]:
        """The person's identities at providers, without the platform's own."""
        async with self._database.read() as session:
            found = await users.identities(session, owner.id)
        return [identity for identity in found if identity.provider != _ORGANISER[0]]

    async def unlink(self, owner: User, provider: str, subject: str) -> None:
        """Remove an identity from the account: logging in with it then no longer opens the account.

        Raises `NotFound`, `Banned`, and `Conflict` for the last one of an account that has no
        lasting token either.
        """
        require_unbanned(owner)  # else they could register again and avoid the ban
        if provider in (_ORGANISER[0], MACHINE) or "\x00" in provider + subject:
            raise _no_identity(provider, subject)
        async with self._database.write() as session:
            await users.lock_identities(session)
            found = await users.identities(session, owner.id)
            if not await users.remove_identity(
                session, owner.id, provider=provider, subject=subject
            ):
                raise _no_identity(provider, subject)
            if len(found) == 1 and not await users.has_lasting_token(session, owner.id):
                raise Conflict(
                    "It is the only way into your account.",
                    hint="Link another one, or make a token that doesn't expire.",
                )

    async def author_page(self, owner: User) -> AuthorPage:
        async with self._database.read() as session:
            return await users.author_page(session, owner.id)

    async def set_author_page(self, owner: User, shown: AuthorPage) -> AuthorPage:
        """Show the page in another way, at once; banned people may as well. Returns it."""
        async with self._database.write() as session:
            await users.set_author_page(session, owner.id, shown)
        return shown

    async def set_role(self, actor: User, user_id: int, role: Role) -> User:
        """Change someone's role. Raises `NotAllowed`, `NotFound`, and `Conflict` for the actor's
        own role, if the account of a running server's machine would be no admin any more, and if
        nobody would be."""
        self._check_other(actor, user_id)
        async with self._database.write() as session:
            before = await _locked_with_admins(session, user_id)
            if role is not Role.ADMIN:
                await expect_no_operator(session, user_id)
            user = await users.set_role(session, user_id, role)
            await expect_admin(session)
            detail = {"name": before.name, "before": before.role.value, "after": role.value}
            await audit.record(session, actor, "user.role", f"user:{user_id}", detail)
        return user or before

    async def rename(self, actor: User, user_id: int, name: str) -> User:
        """Give an account another name. Raises `NotAllowed`, `NotFound`, `UserError` for what can't
        be a name, `Conflict` when it is taken."""
        require_admin(actor)
        _check_name(name)
        async with self._database.write() as session:
            before = await _by_id(session, user_id)
            user = await users.rename(session, user_id, name)
            if user is None:
                raise _name_conflict(name)
            detail = {"before": before.name, "after": name}
            await audit.record(session, actor, "user.rename", f"user:{user_id}", detail)
        return user

    async def ban(self, actor: User, user_id: int, reason: str = "") -> User:
        """Ban someone from submitting and from every ranking; they can still read what is theirs.

        Raises `NotAllowed`, `NotFound`, and `Conflict` for the actor's own account, that of a
        running server's machine, and if no admin would be left.
        """
        return await self._set_banned(actor, user_id, banned=True, reason=reason)

    async def unban(self, actor: User, user_id: int, reason: str = "") -> User:
        """End a ban; what counted before counts again. Raises as `ban`."""
        return await self._set_banned(actor, user_id, banned=False, reason=reason)

    async def _set_banned(self, actor: User, user_id: int, *, banned: bool, reason: str) -> User:
        self._check_other(actor, user_id)
        async with self._database.write() as session:
            before = await _locked_with_admins(session, user_id)
            if banned:
                await expect_no_operator(session, user_id)
            user = await users.ban(session, user_id, banned=banned) or before
            await expect_admin(session)
            await users.refresh_standings(session, user_id)
            action = "user.ban" if banned else "user.unban"
            detail = {"name": user.name, "reason": reason.strip()}
            await audit.record(session, actor, action, f"user:{user_id}", detail)
        return user

    def _check_other(self, actor: User, user_id: int) -> None:
        require_admin(actor)
        if actor.id == user_id:
            raise Conflict("You can't change your own account.", hint="Ask another admin.")

    async def renew(self, token: str, lasts_s: float) -> None:
        """Let a token expire so long from now, if it isn't revoked. Raises `Unavailable`."""
        async with self._database.write() as session:
            await users.renew_token(session, token_hash(token), lasts_s)

    async def sign_out(self, token: str) -> None:
        """Make a token or a session invalid, with all that was made with it."""
        async with self._database.write() as session:
            await tokens.revoke_by_hash(session, token_hash(token))


async def _make_organiser(session: WriteSession) -> User:
    provider, subject = _ORGANISER
    await users.lock_identities(session)
    user = await users.by_identity(session, provider, subject)
    # A name that somebody has already is passed over.
    for name in ("organiser", f"organiser-{secrets.token_hex(8)}"):
        user = user or await users.create(session, name, Role.ADMIN)
    assert user is not None, "eight random bytes aren't somebody's name already"
    await users.add_identity(session, user.id, provider=provider, subject=subject)
    return user


async def lock_admins(session: WriteSession) -> None:
    """Until the transaction ends nobody else changes who is an admin."""
    await users.lock_admins(session)


async def expect_admin(session: WriteSession) -> None:
    """Raises `Conflict` if no admin is left. The session must have locked the admins before its
    change: of two who take it from each other at once the second is refused."""
    if not await users.has_admin(session):
        raise Conflict("Nobody would be an admin any more.", hint="Make somebody else one first.")


async def expect_no_operator(session: ReadSession, user_id: int) -> None:
    """Raises `Conflict` for the account that commands on a running server's own machine act as."""
    if await users.is_operator(session, user_id):
        raise Conflict(
            "Commands on the server's own machine act as this account, so it stays an admin.",
            hint="It can be changed a quarter of an hour after that server has stopped.",
        )


async def _locked_with_admins(session: WriteSession, user_id: int) -> User:
    """The account of this number, when nobody else changes who is an admin. Raises `NotFound`."""
    await users.lock_admins(session)
    return await _by_id(session, user_id)


async def _by_id(session: ReadSession, user_id: int) -> User:
    user = await users.by_id(session, user_id)
    if user is None:
        raise _no_user(user_id)
    return user


async def _find(session: ReadSession, reference: str) -> User:
    found = None
    if "\x00" not in reference:
        provider, _, subject = reference.partition(":")
        found = await users.by_name(session, reference)
        if found is None and reference.isascii() and reference.isdigit() and len(reference) < 19:
            found = await users.by_id(session, int(reference))
        if found is None:
            found = await users.by_identity(session, provider, subject)
    if found is None:
        raise _no_user(reference)
    return found


def _no_identity(provider: str, subject: str) -> NotFound:
    return NotFound(
        f"Your account isn't linked to {provider}:{subject}.", next_step=Next.LIST_IDENTITIES
    )


def _name_conflict(name: str) -> Conflict:
    return Conflict(f"There is already a user named {name!r}.", next_step=Next.CHOOSE_ANOTHER_NAME)


def _no_user(reference: str | int) -> NotFound:
    return NotFound(f"There is no user {reference!r}.", next_step=Next.LIST_USERS)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or not name.isprintable():
        raise UserError(
            "A user name has 1 to 64 printable characters and no space at its ends.",
            next_step=Next.CHOOSE_ANOTHER_NAME,
        )
