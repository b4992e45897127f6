"""The tokens of an account, without their texts."""

from datetime import datetime

from kernelbot.domain.accounts import Token
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements


async def of_user(session: ReadSession, user_id: int) -> list[Token]:
    """Those that aren't revoked, the newest first; expired ones too."""
    rows = await session.all(statements("tokens")["of_user"], {"user_id": user_id})
    return [_token(row) for row in rows]


async def add(
    session: WriteSession,
    user_id: int,
    *,
    name: str,
    token_hash: bytes,
    expires_at: datetime | None,
    max_tokens: int,
) -> Token | None:
    """Add a token; None if the account has `max_tokens` already. Revoked and expired ones don't
    count."""
    await session.do(statements("tokens")["forget_expired"], {"user_id": user_id})
    values = {
        "user_id": user_id,
        "name": name,
        "hash": token_hash,
        "expires_at": expires_at,
        "max_tokens": max_tokens,
    }
    row = await session.one(statements("tokens")["add"], values)
    return _token(row) if row else None


async def revoke(session: WriteSession, user_id: int, token_id: int) -> Token | None:
    """Revoke a token: from now on it is invalid. None if the account has no such token."""
    values = {"user_id": user_id, "token_id": token_id}
    row = await session.one(statements("tokens")["revoke"], values)
    return _token(row) if row else None


def _token(row: Row) -> Token:
    return Token(row["id"], row["name"], row["created_at"], row["expires_at"])
