"""A person's own tokens, and the sessions of their browsers."""

import asyncio
from datetime import UTC, datetime

from kernelbot.accounts.model import NewToken, User
from kernelbot.accounts.permissions import require_unbanned
from kernelbot.accounts.tokens import store as tokens
from kernelbot.accounts.tokens.model import Credential, IssuedToken, Token
from kernelbot.accounts.tokens.text import new_token, setting_hash, token_hash
from kernelbot.domain.errors import Conflict, NotAuthenticated, NotFound, UserError
from kernelbot.domain.next_steps import Next
from kernelbot.store.database import Database, WriteSession

_MAX_TOKENS = 100
_MAX_SESSIONS = 50
_LAST_YEAR = 9000
"""Near the calendar's end a moment has no date in other time zones."""
_NAME_MAX = 100
_SESSION_LASTS_S = 30 * 24 * 3600.0
SHORT_SESSION_LASTS_S = 12 * 3600.0
"""How long ADMIN_TOKEN opens a browser."""


class TokenService:
    """Everyone manages their own tokens, and so can revoke one that leaked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_tokens(self, owner: User) -> list[Token]:
        """Tokens and browsers' sessions that aren't revoked, the newest first."""
        async with self._database.read() as session:
            return await tokens.of_user(session, owner.id)

    async def ends_at(self, shown: Credential) -> datetime | None:
        """When what somebody shows ends by itself, with what it was made with at the latest; None:
        never, or it isn't known."""
        if shown.of_settings:
            return None
        async with self._database.read() as session:
            return await tokens.ends_at(session, token_hash(shown.text))

    async def create(
        self,
        owner: User,
        name: str,
        *,
        expires_at: datetime | None = None,
        made_with: Credential | None = None,
    ) -> IssuedToken:
        """Create a token, whose text is returned only now. It ends with `made_with` (None: the
        platform itself makes it), or, if that is a session, with what opened the session.

        Raises `UserError` for an unusable name or a time that has passed, `Banned`, `Conflict`
        when there are too many, `NotAuthenticated` if `made_with` has ended.
        """
        require_unbanned(owner)
        name = name.strip()
        if not 0 < len(name) <= _NAME_MAX or not name.isprintable():
            raise UserError(f"A token's name has 1 to {_NAME_MAX} printable characters.")
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise UserError("A token can't expire in the past.")
        if expires_at is not None and expires_at.year > _LAST_YEAR:
            raise UserError(
                f"A token can't expire after the year {_LAST_YEAR}.",
                hint="Without a time it never expires.",
            )
        async with self._database.write() as session:
            parent_id = await parent_of(session, owner, made_with)
            return await add_token(session, owner, name, parent_id, expires_at=expires_at)

    async def revoke(self, owner: User, token_id: int) -> Token:
        """Revoke a token or end a session: from now on it is invalid, with all that was made with
        it. Raises `NotFound`, also for someone else's."""
        async with self._database.write() as session:
            token = await tokens.revoke(session, owner.id, token_id)
        if token is None:
            raise NotFound(
                f"You have no token {token_id}, or it is revoked already.",
                next_step=Next.LIST_TOKENS,
            )
        return token


async def parent_of(session: WriteSession, owner: User, made_with: Credential | None) -> int | None:
    """What ends all that is made with this; None: nothing does. Raises `NotAuthenticated` if it has
    ended itself."""
    if made_with is None:
        return None
    if made_with.of_settings:
        mark = await asyncio.to_thread(setting_hash, made_with.text)
        return await tokens.add_setting(session, owner.id, "ADMIN_TOKEN", mark)
    maker = await tokens.maker(session, token_hash(made_with.text))
    if maker is None:
        raise NotAuthenticated("The token isn't valid any more.", next_step=Next.LOG_IN)
    return maker.parent_id


async def add_token(
    session: WriteSession,
    owner: User,
    name: str,
    parent_id: int | None,
    *,
    expires_at: datetime | None = None,
) -> IssuedToken:
    """A new token. Raises `Conflict` when there are too many."""
    text = new_token()
    new = tokens.TokenToStore(owner.id, name, token_hash(text), expires_at, parent_id)
    token = await tokens.add(session, new, max_tokens=_MAX_TOKENS)
    if token is None:
        raise Conflict(f"There are {_MAX_TOKENS} tokens already.", next_step=Next.REVOKE_TOKENS)
    return IssuedToken(**vars(token), token=text)


async def open_session(
    session: WriteSession, user: User, parent_id: int | None, *, lasts_s: float = _SESSION_LASTS_S
) -> NewToken:
    """A browser's session. If there are too many, the oldest makes way."""
    text = new_token()
    await tokens.add_session(
        session, user.id, token_hash(text), parent_id, lasts_s=lasts_s, max_sessions=_MAX_SESSIONS
    )
    return NewToken(user, text)
