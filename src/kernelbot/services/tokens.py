"""A person's own tokens."""

from datetime import UTC, datetime

from kernelbot.domain.accounts import IssuedToken, Token
from kernelbot.domain.errors import Conflict, NotFound, UserError
from kernelbot.domain.types import User
from kernelbot.identity.tokens import new_token, token_hash
from kernelbot.services.permissions import require_unbanned
from kernelbot.store import tokens
from kernelbot.store.database import Database

_MAX_TOKENS = 100
_NAME_MAX = 100


class Tokens:
    """Everyone manages their own tokens, and so can revoke one that leaked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_tokens(self, owner: User) -> list[Token]:
        """Those that aren't revoked, the newest first."""
        async with self._database.read() as session:
            return await tokens.of_user(session, owner.id)

    async def create(
        self, owner: User, name: str, *, expires_at: datetime | None = None
    ) -> IssuedToken:
        """Create a token, whose text is returned only now.

        Raises `UserError` for an unusable name or a time that has passed, `Banned`, `Conflict`
        when there are too many.
        """
        require_unbanned(owner)
        name = name.strip()
        if not 0 < len(name) <= _NAME_MAX or not name.isprintable():
            raise UserError(f"A token's name has 1 to {_NAME_MAX} printable characters.")
        if expires_at is not None and expires_at <= datetime.now(UTC):
            raise UserError("A token can't expire in the past.")
        text = new_token()
        async with self._database.write() as session:
            token = await tokens.add(
                session,
                owner.id,
                name=name,
                token_hash=token_hash(text),
                expires_at=expires_at,
                max_tokens=_MAX_TOKENS,
            )
        if token is None:
            raise Conflict(
                f"There are {_MAX_TOKENS} tokens already.",
                hint="Revoke some: kernelbot token revoke ID",
            )
        return IssuedToken(token, text)

    async def revoke(self, owner: User, token_id: int) -> Token:
        """Revoke a token: from now on it is invalid. Raises `NotFound`, also for someone else's."""
        async with self._database.write() as session:
            token = await tokens.revoke(session, owner.id, token_id)
        if token is None:
            raise NotFound(
                f"You have no token {token_id}, or it is revoked already.",
                hint="See: kernelbot token list",
            )
        return token
