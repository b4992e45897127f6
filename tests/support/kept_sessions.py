"""Sessions of Postgres that one test's pool has after another's. A new one reads its catalogs, and
parses and plans all that a submission needs: 70 ms of a processor, more than most tests."""

import select
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg import pq
from psycopg.abc import PQGenConn

from kernelbot.store import database
from kernelbot.store.awaited import AwaitedConnection

_AS_NEW = b"""
RESET ALL; RESET SESSION AUTHORIZATION; UNLISTEN *; CLOSE ALL; DEALLOCATE ALL;
DISCARD TEMP; DISCARD SEQUENCES; SELECT pg_advisory_unlock_all(); SELECT pg_stat_force_next_flush()
"""
"""What `DISCARD ALL` does, but for what was planned, and with all counted that was written."""
_kept: dict[str, list[pq.abc.PGconn]] = {}
"""By how they were connected: sessions that nobody uses."""


class KeptConnection(AwaitedConnection):
    """When it is closed, its session is kept for who connects in the same way."""

    _conninfo = ""

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> PQGenConn["KeptConnection"]:
        found = _one_kept(conninfo)
        made = cls(found) if found else (yield from super()._connect_gen(conninfo))
        made._conninfo = conninfo
        return made

    async def close(self) -> None:
        """Close it for whoever has it."""
        if not self.closed and self.pgconn.transaction_status == pq.TransactionStatus.IDLE:
            self._unwatch()
            session, self.pgconn = self.pgconn, pq.PGconn.connect_start(b"host=/nowhere")
            if session.exec_(_AS_NEW).status == pq.ExecStatus.TUPLES_OK:
                _kept.setdefault(self._conninfo, []).append(session)
            else:
                session.finish()
        await super().close()


@contextmanager
def sessions_kept() -> Iterator[None]:
    """Pools that are made in the block use these sessions, and leave theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "AwaitedConnection", KeptConnection)
        yield


def numbers_of_kept() -> list[int]:
    """The processes of Postgres's that do nothing."""
    return [session.backend_pid for sessions in _kept.values() for session in sessions]


def _one_kept(conninfo: str) -> pq.abc.PGconn | None:
    while sessions := _kept.get(conninfo):
        session, poll = sessions.pop(), select.poll()
        poll.register(session.socket, select.POLLIN)
        if not poll.poll(0):
            return session
        session.finish()  # only one that was ended has something to say
    return None
