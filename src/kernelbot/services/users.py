"""Accounts and their tokens."""

import re
import secrets

from kernelbot.domain.errors import Conflict, NotAuthenticated, UserError
from kernelbot.domain.types import NewToken, Role, User
from kernelbot.identity.tokens import new_token, token_hash
from kernelbot.store import users
from kernelbot.store.database import Database

_ORGANISER = ("kernelbot", "ADMIN_TOKEN")
"""Provider and subject of the identity that ADMIN_TOKEN stands for."""

_NAME = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]{0,62}[^\s\x00-\x1f\x7f])?")


class Users:
    """People with an account."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, role: Role = Role.COMPETITOR) -> NewToken:
        """A new account with its first token, whose text is shown this once.

        Raises `Conflict` when the name is taken, `UserError` when it can't be a name.
        """
        _check_name(name)
        token = new_token()
        async with self._database.write() as session:
            user = await users.create(session, name, role)
            if user is None:
                raise Conflict(f"There is already a user named {name!r}.", hint="Take another.")
            await users.add_token(session, user.id, name="first", token_hash=token_hash(token))
        return NewToken(user, token)

    async def authenticate(self, token: str) -> User:
        """Whose token it is. Raises `NotAuthenticated`. Banned people still get in: they may
        read, and `Submissions.submit` is what refuses them."""
        async with self._database.read() as session:
            user = await users.by_token(session, token_hash(token))
        if user is None:
            raise NotAuthenticated(
                "The token isn't valid here.", hint="Log in again: kernelbot login URL TOKEN"
            )
        return user

    async def sign_in(self, name: str, role: Role, *, token_name: str) -> NewToken:
        """A token for the account of that name, which is made if there is none yet.

        For the operator's own account on the machine that serves; never reached from a door.
        """
        _check_name(name)
        token = new_token()
        async with self._database.write() as session:
            user = await users.create(session, name, role) or await users.by_name(session, name)
            assert user is not None, "the name was taken a moment ago and users aren't deleted"
            await users.add_token(session, user.id, name=token_name, token_hash=token_hash(token))
        return NewToken(user, token)

    async def organiser(self) -> User:
        """The account of whoever holds ADMIN_TOKEN, made the first time: what is done with that
        token has an author too. It is found by its identity, so nobody can take it by name."""
        async with self._database.read() as session:
            found = await users.by_identity(session, *_ORGANISER)
        return found or await self._make_organiser()

    async def _make_organiser(self) -> User:
        provider, subject = _ORGANISER
        async with self._database.write() as session:
            await users.lock_identities(session)
            user = await users.by_identity(session, provider, subject)
            # A name that somebody has already is passed over.
            for name in ("organiser", f"organiser-{secrets.token_hex(8)}"):
                user = user or await users.create(session, name, Role.ADMIN)
            assert user is not None, "eight random bytes aren't somebody's name already"
            await users.add_identity(session, user.id, provider=provider, subject=subject)
        return user

    async def sign_out(self, token: str) -> None:
        """Make a token invalid."""
        async with self._database.write() as session:
            await users.revoke_token(session, token_hash(token))


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or not name.isprintable():
        raise UserError(
            "A user name has 1 to 64 printable characters and no space at its ends.",
            hint="Choose another name.",
        )
