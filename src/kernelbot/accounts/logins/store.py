"""Logins that have begun and not yet ended."""

from dataclasses import dataclass, field

from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class LoginAttempt:
    """What must be known when the browser returns. `linking_user_id`: the account that gets
    another identity; None: somebody logs in."""

    code_verifier: str = field(repr=False)
    redirect_uri: str
    next_path: str
    invite: str | None
    linking_user_id: int | None


@dataclass(frozen=True)
class AttemptKey:
    """The key of an attempt: hashes of the state and of the browser's cookie, and the provider."""

    state_hash: bytes
    browser_hash: bytes
    provider: str


@dataclass(frozen=True)
class Polled:
    """The state of a terminal's login: whether it still waits for approval, whether the terminal
    polls too often, and how long it must wait between two polls."""

    waits: bool
    too_early: bool
    interval_s: int


@dataclass(frozen=True)
class Approved:
    """Who approved a terminal's login, and what its token ends with."""

    user_id: int
    parent_id: int | None


async def create_attempt(
    session: WriteSession, key: AttemptKey, attempt: LoginAttempt, *, lasts_s: float
) -> None:
    """Store the attempt for `lasts_s`; expired ones are deleted."""
    await session.do(statements(__file__)["forget_expired"])
    values = {**vars(key), **vars(attempt), "lasts_s": lasts_s}
    await session.do(statements(__file__)["begin"], values)


async def pop_attempt(session: WriteSession, key: AttemptKey) -> LoginAttempt | None:
    """Return the attempt and delete it; None: there is none, or not of this browser."""
    row = await session.one(statements(__file__)["take"], vars(key))
    return LoginAttempt(**row) if row else None


async def create_device_login(
    session: WriteSession, device_hash: bytes, user_code: str, *, lasts_s: float, interval_s: int
) -> None:
    """Store a terminal's login for `lasts_s`; expired ones are deleted."""
    await session.do(statements(__file__)["forget_expired_devices"])
    values = {
        "device_hash": device_hash,
        "user_code": user_code,
        "lasts_s": lasts_s,
        "interval_s": interval_s,
    }
    await session.do(statements(__file__)["begin_device"], values)


async def approve_device(
    session: WriteSession, user_code: str, user_id: int, parent_id: int | None
) -> bool:
    """Approve the terminal's login for this person, with a token that ends with `parent_id`;
    False: no login waits with this code."""
    values = {"user_code": user_code, "user_id": user_id, "parent_id": parent_id}
    return await session.do(statements(__file__)["approve_device"], values) == 1


async def poll_device(
    session: WriteSession, device_hash: bytes, *, slack_s: float, more_s: int
) -> Polled | None:
    """Record a poll; None: there is no such login, or it has expired. A terminal that polls more
    than `slack_s` too early must wait `more_s` longer between polls from then on."""
    values = {"device_hash": device_hash, "slack_s": slack_s, "more_s": more_s}
    row = await session.one(statements(__file__)["poll_device"], values)
    return Polled(**row) if row else None


async def link_owner(session: ReadSession, device_hash: bytes) -> int | None:
    """Whose link it is; None: there is none, it has expired, or what it would end with has."""
    row = await session.one(statements(__file__)["link_owner"], {"device_hash": device_hash})
    return int(row["user_id"]) if row else None


async def pop_device_login(session: WriteSession, device_hash: bytes) -> Approved | None:
    """Who approved it; returned once. None: nobody yet, it was returned before, or what its token
    would end with has ended."""
    row = await session.one(statements(__file__)["take_device"], {"device_hash": device_hash})
    return Approved(**row) if row else None
