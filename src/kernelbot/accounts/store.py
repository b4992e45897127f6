"""Accounts and tokens."""

from collections.abc import Sequence

from kernelbot.accounts.logins.model import Identity
from kernelbot.accounts.model import AuthorPage, Role, User
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


async def create(session: WriteSession, name: str, role: Role) -> User | None:
    """Create an account; None if the name is taken, in upper or lower case."""
    row = await session.one(statements(__file__)["create"], {"name": name, "role": role})
    return from_row(User, row) if row else None


async def by_name(session: ReadSession, name: str) -> User | None:
    """The account of that name, in upper or lower case."""
    row = await session.one(statements(__file__)["by_name"], {"name": name})
    return from_row(User, row) if row else None


async def by_id(session: ReadSession, user_id: int) -> User | None:
    row = await session.one(statements(__file__)["by_id"], {"user_id": user_id})
    return from_row(User, row) if row else None


async def page(
    session: ReadSession, *, search: str | None, limit: int, after_id: int
) -> list[User]:
    """Accounts whose name contains `search`, in upper or lower case, by number."""
    values = {"search": search, "limit": limit, "after_id": after_id}
    return [from_row(User, row) for row in await session.all(statements(__file__)["page"], values)]


async def set_role(session: WriteSession, user_id: int, role: Role) -> User | None:
    """Set the role; returns the account, None if there is none."""
    values = {"user_id": user_id, "role": role}
    row = await session.one(statements(__file__)["set_role"], values)
    return from_row(User, row) if row else None


async def rename(session: WriteSession, user_id: int, name: str) -> User | None:
    """Set the name of an account that there is; returns it, None if another one has the name."""
    row = await session.one(statements(__file__)["rename"], {"user_id": user_id, "name": name})
    return from_row(User, row) if row else None


async def author_page(session: ReadSession, user_id: int) -> AuthorPage:
    row = await session.one(statements(__file__)["author_page"], {"user_id": user_id})
    return AuthorPage(private=bool(row and row["page_is_private"]))


async def set_author_page(session: WriteSession, user_id: int, shown: AuthorPage) -> None:
    values = {"user_id": user_id, "private": shown.private}
    await session.do(statements(__file__)["set_author_page"], values)


async def identities(session: ReadSession, user_id: int) -> list[Identity]:
    """Those that one can log in with, and the organiser's."""
    rows = await session.all(statements(__file__)["identities"], {"user_id": user_id})
    return [from_row(Identity, row) for row in rows]


async def lock_admins(session: WriteSession) -> None:
    """Until the transaction ends nobody else changes who is an admin."""
    await session.all(statements(__file__)["lock_admins"])


async def has_admin(session: ReadSession) -> bool:
    """Whether anybody is an admin who isn't banned."""
    row = await session.one(statements(__file__)["has_admin"])
    return bool(row and row["found"])


async def is_operator(session: ReadSession, user_id: int) -> bool:
    """Whether a token of the account that its own machine has is valid."""
    row = await session.one(statements(__file__)["is_operator"], {"user_id": user_id})
    return bool(row and row["found"])


async def refresh_standings(session: WriteSession, user_id: int) -> None:
    """Update every ranking that the person may be in, after a ban or its end."""
    await session.do(statements(__file__)["refresh_standings"], {"user_id": user_id})


async def by_identity(session: ReadSession, provider: str, subject: str) -> User | None:
    """The account that the provider's id belongs to."""
    values = {"provider": provider, "subject": subject}
    row = await session.one(statements(__file__)["by_identity"], values)
    return from_row(User, row) if row else None


async def by_identities(
    session: ReadSession, provider: str, subjects: Sequence[str]
) -> dict[str, User]:
    """The accounts that the provider's ids belong to, by those ids."""
    values = {"provider": provider, "subjects": list(subjects)}
    rows = await session.all(statements(__file__)["by_identities"], values)
    return {row["subject"]: from_row(User, row) for row in rows}


async def lock_identities(session: WriteSession) -> None:
    """Until the transaction ends nobody else can add an identity."""
    await session.do(statements(__file__)["lock_identities"])


async def add_identity(session: WriteSession, user_id: int, *, provider: str, subject: str) -> bool:
    """Link the provider's id to the account; False if it is linked to an account already."""
    values = {"provider": provider, "subject": subject, "user_id": user_id}
    return await session.do(statements(__file__)["add_identity"], values) == 1


async def remove_identity(
    session: WriteSession, user_id: int, *, provider: str, subject: str
) -> bool:
    """Unlink the provider's id from the account; False if it isn't the account's."""
    values = {"provider": provider, "subject": subject, "user_id": user_id}
    return await session.do(statements(__file__)["remove_identity"], values) == 1


async def has_lasting_token(session: ReadSession, user_id: int) -> bool:
    """Whether the account has a token that doesn't end by itself."""
    values = {"user_id": user_id}
    return await session.one(statements(__file__)["has_lasting_token"], values) is not None


async def add_token(session: WriteSession, user_id: int, *, name: str, token_hash: bytes) -> None:
    """Add a token to the account, which doesn't expire."""
    values = {"user_id": user_id, "name": name, "hash": token_hash}
    await session.do(statements(__file__)["add_token"], values)


async def by_token(
    session: ReadSession, token_hash: bytes, kind: TokenKind = TokenKind.TOKEN
) -> User | None:
    """The account of the token of this kind, if neither it nor what it was made with has ended."""
    values = {"hash": token_hash, "kind": kind}
    row = await session.one(statements(__file__)["by_token"], values)
    return from_row(User, row) if row else None


async def renew_token(session: WriteSession, token_hash: bytes, lasts_s: float) -> None:
    """Set the token's expiry to `lasts_s` from now."""
    values = {"hash": token_hash, "lasts_s": lasts_s}
    await session.do(statements(__file__)["renew_token"], values)


async def ban(session: WriteSession, user_id: int, *, banned: bool) -> User | None:
    """Set or lift a ban; None when there is no such account."""
    row = await session.one(statements(__file__)["ban"], {"user_id": user_id, "banned": banned})
    return from_row(User, row) if row else None
