"""The tokens of an account and its browsers' sessions, without their texts."""

from dataclasses import dataclass, field
from datetime import datetime

from kernelbot.accounts.tokens.model import Token
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class TokenToStore:
    """A token to store. `parent_id`: what it ends with; None: nothing but itself."""

    user_id: int
    name: str
    hash: bytes = field(repr=False)
    expires_at: datetime | None = None
    parent_id: int | None = None


@dataclass(frozen=True)
class Maker:
    """What the things end with that are made with a token or in a session; None: nothing."""

    parent_id: int | None


async def of_user(session: ReadSession, user_id: int) -> list[Token]:
    """Tokens and sessions that aren't revoked, the newest first; expired ones too."""
    rows = await session.all(statements(__file__)["of_user"], {"user_id": user_id})
    return [from_row(Token, row) for row in rows]


async def maker(session: WriteSession, token_hash: bytes) -> Maker | None:
    """The token or session as a maker; None if it has ended. It stays as it is until the
    transaction ends."""
    row = await session.one(statements(__file__)["maker"], {"hash": token_hash})
    return Maker(row["parent_id"]) if row else None


async def ends_at(session: ReadSession, token_hash: bytes) -> datetime | None:
    """When the token ends, with what it was made with at the latest; None: never, or there is no
    such token."""
    row = await session.one(statements(__file__)["ends_at"], {"hash": token_hash})
    ends: datetime | None = row["ends_at"] if row else None
    return ends


async def ends_by_itself(session: ReadSession, token_id: int) -> bool:
    """Whether it, or what it was made with, has an end. A setting has one whenever it changes."""
    row = await session.one(statements(__file__)["ends_by_itself"], {"token_id": token_id})
    return row is None or bool(row["ends"])


async def add(session: WriteSession, new: TokenToStore, *, max_tokens: int) -> Token | None:
    """Add a token; None if the account has `max_tokens` already. Sessions don't count, nor what
    is revoked or expired. Until the transaction ends nobody else adds one to the account."""
    sql = statements(__file__)
    await session.one(sql["lock_owner"], {"user_id": new.user_id})
    await session.do(sql["forget_expired"], {"user_id": new.user_id})
    row = await session.one(sql["add"], {**vars(new), "max_tokens": max_tokens})
    return from_row(Token, row) if row else None


async def add_session(
    session: WriteSession,
    user_id: int,
    token_hash: bytes,
    parent_id: int | None,
    *,
    lasts_s: float,
    max_sessions: int,
) -> None:
    """Add a browser's session. The oldest make way for it, if there are more than
    `max_sessions`."""
    await session.do(statements(__file__)["forget_expired"], {"user_id": user_id})
    values = {
        "user_id": user_id,
        "hash": token_hash,
        "parent_id": parent_id,
        "lasts_s": lasts_s,
        "max_sessions": max_sessions,
    }
    await session.do(statements(__file__)["add_session"], values)
    await session.do(statements(__file__)["make_way"], values)


async def add_setting(session: WriteSession, user_id: int, name: str, setting_hash: bytes) -> int:
    """What a setting's sessions and tokens are children of. What hung on other values of it is
    deleted."""
    await forget_settings(session, setting_hash)
    values = {"user_id": user_id, "name": name, "hash": setting_hash}
    row = await session.one(statements(__file__)["add_setting"], values)
    assert row is not None, "inserted or there"
    return int(row["id"])


async def forget_settings(session: WriteSession, kept_hash: bytes | None) -> None:
    """Delete what hangs on any other value of a setting."""
    await session.do(statements(__file__)["forget_settings"], {"hash": kept_hash})


async def revoke(session: WriteSession, user_id: int, token_id: int) -> Token | None:
    """Revoke a token or session with all that was made with it. None if the account has no such
    token."""
    values = {"user_id": user_id, "token_id": token_id}
    row = await session.one(statements(__file__)["revoke"], values)
    return from_row(Token, row) if row else None


async def revoke_by_hash(session: WriteSession, token_hash: bytes) -> None:
    row = await session.one(statements(__file__)["by_hash"], {"hash": token_hash})
    if row is not None:
        await revoke(session, row["user_id"], row["id"])
