"""Logins that have begun and not ended."""

from dataclasses import dataclass, field

from kernelbot.store.database import WriteSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Attempt:
    """What has to be known when the browser comes back. `linking_user_id`: whose account gets
    one more identity; None: somebody logs in."""

    code_verifier: str = field(repr=False)
    redirect_uri: str
    next_path: str
    invite: str | None
    linking_user_id: int | None


@dataclass(frozen=True)
class AttemptKey:
    """What finds it: hashes of the state and of the browser's cookie, and the provider."""

    state_hash: bytes
    browser_hash: bytes
    provider: str


@dataclass(frozen=True)
class Polled:
    """How a terminal's login stands: whether nobody has approved it yet, whether the terminal
    asks too often, and how long it is to wait between two times."""

    waits: bool
    too_early: bool
    interval_s: int


async def begin(
    session: WriteSession, key: AttemptKey, attempt: Attempt, *, lasts_s: float
) -> None:
    """Keep it for so long; those whose time is over go."""
    await session.do(statements("logins")["forget_expired"])
    values = {**vars(key), **vars(attempt), "lasts_s": lasts_s}
    await session.do(statements("logins")["begin"], values)


async def take(session: WriteSession, key: AttemptKey) -> Attempt | None:
    """The attempt, which is gone then; None: there is none, or not of this browser."""
    row = await session.one(statements("logins")["take"], vars(key))
    return Attempt(**row) if row else None


async def begin_device(
    session: WriteSession, device_hash: bytes, user_code: str, *, lasts_s: float, interval_s: int
) -> None:
    """Keep a terminal's login for so long; those whose time is over go."""
    await session.do(statements("logins")["forget_expired_devices"])
    values = {
        "device_hash": device_hash,
        "user_code": user_code,
        "lasts_s": lasts_s,
        "interval_s": interval_s,
    }
    await session.do(statements("logins")["begin_device"], values)


async def approve_device(session: WriteSession, user_code: str, user_id: int) -> bool:
    """The terminal speaks for this person; False: there is no such code that waits."""
    values = {"user_code": user_code, "user_id": user_id}
    return await session.do(statements("logins")["approve_device"], values) == 1


async def poll_device(
    session: WriteSession, device_hash: bytes, *, slack_s: float, more_s: int
) -> Polled | None:
    """Note that its terminal asks; None: there is none, or its time is over. One that asks again
    more than `slack_s` before its time is to leave `more_s` more from then on."""
    values = {"device_hash": device_hash, "slack_s": slack_s, "more_s": more_s}
    row = await session.one(statements("logins")["poll_device"], values)
    return Polled(**row) if row else None


async def take_device(session: WriteSession, device_hash: bytes) -> int | None:
    """Who approved it, once; None: nobody, or it was taken."""
    row = await session.one(statements("logins")["take_device"], {"device_hash": device_hash})
    return int(row["user_id"]) if row else None
