"""What every connection that is kept open is made with, and how long its session may take."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import psycopg

from kernelbot.store.code import using
from kernelbot.store.schema import this_code
from kernelbot.store.timeouts import DatabaseTimeouts

CONNECT_S = 30
"""How long Postgres may take to let us in: it starts a process for it, which on a slow or busy
machine takes seconds. A process of ours that starts waits for that long."""
ALIVE: Mapping[str, Any] = MappingProxyType(
    {
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }
)
"""libpq's, in seconds and, the last one, milliseconds: a server that is gone without a word, with
its machine or behind a network that forgot us, is noticed in half a minute instead of 15 minutes,
or two hours if nobody asks it anything. Over a socket of this machine they mean nothing."""


async def hold(limits: DatabaseTimeouts, connection: psycopg.AsyncConnection[Any]) -> None:
    """Hold the connection's session to the limits and to UTC, whatever its role or database is set
    to, and let it use this release's functions and views."""
    given_s = {
        "lock_timeout": limits.locked_s,
        "statement_timeout": limits.slow_s,
        "idle_in_transaction_session_timeout": limits.idle_s,
    }
    for name, limit_s in given_s.items():
        await _set(connection, name, limit_s, local=False)
    await connection.execute("SELECT set_config('TimeZone', 'UTC', false)")
    await connection.execute(*using(this_code()))
    if not connection.autocommit:  # a pool takes none that is left in a transaction
        await connection.commit()


async def unhurry(limits: DatabaseTimeouts, connection: psycopg.AsyncConnection[Any]) -> None:
    """Give the statements of the connection's transaction the time of long work."""
    await _set(connection, "statement_timeout", limits.unhurried_s, local=True)


def why_unreachable(error: psycopg.Error) -> str:
    """Why a connection made with a `connect_timeout` of `CONNECT_S` failed."""
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        return f"it hasn't let us in within {CONNECT_S} s"
    return str(error).strip()


async def _set(
    connection: psycopg.AsyncConnection[Any], name: str, limit_s: float, *, local: bool
) -> None:
    limit = f"{max(1, round(limit_s * 1000))}ms"  # 0 would be none
    await connection.execute("SELECT set_config(%s, %s, %s)", (name, limit, local))
