"""The connection pool, and two kinds of session. Repositories say by type which one they need."""

import asyncio
import contextlib
import select
import time
import types
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator, Mapping, Sequence
from typing import Any, LiteralString, Self
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from kernelbot.domain.errors import Conflict, PlatformError, Unavailable
from kernelbot.domain.next_steps import Next
from kernelbot.store.awaited import AwaitedConnection
from kernelbot.store.connections import ALIVE, CONNECT_S, hold, unhurry
from kernelbot.store.timeouts import DatabaseTimeouts

IDLE_S = 60.0
"""A pool closes one connection after each while of this length in which one was never used. Another
costs Postgres 5 ms of a processor; one that is kept is a process of it."""
_TRUSTED_S = 5.0
"""For so long a connection that worked counts as one that works, unless the server has said
something, as when it closes it. What is gone without a word, keepalives notice no sooner."""
Row = dict[str, Any]
"""A row by column name, read into a frozen type by the repository that asked for it."""
Values = Mapping[str, Any]


class ReadSession:
    """Statements that read, each on its own snapshot."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection

    async def one(self, statement: LiteralString, values: Values | None = None) -> Row | None:
        cursor = await self._connection.execute(statement, values)
        return await cursor.fetchone()

    async def all(self, statement: LiteralString, values: Values | None = None) -> list[Row]:
        cursor = await self._connection.execute(statement, values)
        return await cursor.fetchall()


class WriteSession(ReadSession):
    """One transaction: all of it or nothing, unless it is of `autocommit`."""

    async def do(self, statement: LiteralString, values: Values | None = None) -> int:
        """Execute; returns the number of rows it touched."""
        return (await self._connection.execute(statement, values)).rowcount

    async def do_each(self, statement: LiteralString, rows: Sequence[Values]) -> None:
        """Execute once per row, in few round trips."""
        async with self._connection.cursor() as cursor:
            await cursor.executemany(statement, rows)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Make what is done in the block one transaction, in a session of `autocommit`."""
        async with self._connection.transaction():
            yield


_RECONNECT_S = 2.0
_NAMES = frozenset({"users_name", "leaderboards_name"})
"""Indexes of names that people choose: of two who choose one at once the second is told so."""
_TOO_MUCH = (
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.StatementTooComplex,
    psycopg.errors.TooManyArguments,
)
"""For psycopg these are operational errors too, but trying again doesn't help."""


class Database:
    """The connections to Postgres. Every failure to reach it is `Unavailable`, and so is a change
    while it can only be read; the pool reconnects by itself. A value that is too large for it is a
    plain `PlatformError`."""

    def __init__(
        self,
        url: str,
        *,
        max_size: int = 10,
        timeout_s: float = 5.0,
        limits: DatabaseTimeouts | None = None,
        connect_s: float = CONNECT_S,
    ) -> None:
        """`timeout_s`: how long to wait for one of `max_size` connections; `limits`: of each
        session, None: the usual ones; `connect_s`: how long the first connection may take."""
        self.url = url
        self._limits = limits or DatabaseTimeouts()
        self._connect_s = connect_s
        self._answered = asyncio.Event()
        """Once Postgres has let us in, or has refused."""
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            connection_class=AwaitedConnection,
            min_size=1,
            max_size=max_size,
            timeout=timeout_s,
            max_idle=IDLE_S,
            open=False,
            configure=self._configure,
            reconnect_failed=self._refused,
            check=_Checked(),
            kwargs={"row_factory": dict_row, "autocommit": True, **ALIVE},
            # Attempts to reconnect back off until this is over; the next request starts anew.
            reconnect_timeout=_RECONNECT_S,
            name="kernelbot",
        )

    async def __aenter__(self) -> Self:
        """Wait until Postgres has let us in or has refused, for longer than a session is waited
        for: a slow machine takes its time to start. If it refuses, the block begins all the same,
        since it may be back soon. Raises `Unavailable` if it does neither."""
        await self._pool.open()
        try:
            async with asyncio.timeout(self._connect_s):
                await self._answered.wait()
        except BaseException as error:
            await self._pool.close()
            if isinstance(error, TimeoutError):
                raise Unavailable(
                    f"The database hasn't let us in within {self._connect_s:g} s.",
                    hint="The machine may be too busy, or a firewall in between. Try again.",
                ) from error
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        """A session for reading. Raises `Unavailable`."""
        with _reachable():
            async with self._connection() as connection:
                yield ReadSession(connection)

    @contextlib.asynccontextmanager
    async def write(self, *, unhurried: bool = False) -> AsyncIterator[WriteSession]:
        """A transaction, committed at the end, rolled back on an exception. `unhurried`: its
        statements have the time of long work, since they are about all that a board or a person
        has.

        Raises `Conflict` if what a new row belongs to was deleted since it was read, and
        `Unavailable`; then it is unknown whether the commit happened, so a change that is
        repeated must be guarded by the state it expects.
        """
        with _reachable():
            async with self._connection() as connection, connection.transaction():
                if unhurried:
                    await unhurry(self._limits, connection)
                yield WriteSession(connection)

    @contextlib.asynccontextmanager
    async def autocommit(self) -> AsyncIterator[WriteSession]:
        """A session of which each statement is a transaction: for a change that one statement
        makes, without the two round trips that begin and commit. Raises as `write`."""
        with _reachable():
            async with self._connection() as connection:
                yield WriteSession(connection)

    async def _configure(self, connection: AsyncConnection[DictRow]) -> None:
        await hold(self._limits, connection)
        self._answered.set()

    async def _refused(self, _pool: AsyncConnectionPool[Any]) -> None:
        self._answered.set()

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """A connection of the pool. The pool waits with Python 3.11's `wait_for`, which swallows a
        cancellation that comes together with the connection: who was cancelled goes no further."""
        task = asyncio.current_task()
        assert task is not None, "what is async runs in a task"
        before = task.cancelling()
        try:
            connection = await self._pool.getconn()
            try:
                if task.cancelling() > before:
                    raise asyncio.CancelledError
                yield connection
            finally:  # each statement, or each block of some, was a transaction
                await self._give_back(connection)
        except (PoolTimeout, PoolClosed, psycopg.Error):
            if task.cancelling() > before:
                raise asyncio.CancelledError from None
            raise

    async def _give_back(self, connection: AsyncConnection[DictRow]) -> None:
        """Give it back to the pool, also if we are cancelled while that waits for its turn: the
        pool would have one connection less for ever. What needn't wait, as nearly always, has no
        task of its own, which would take half as long as a small statement."""
        giving = self._pool.putconn(connection)
        if connection.pgconn.transaction_status == TransactionStatus.IDLE:
            try:
                waits_for = giving.send(None)
            except StopIteration:
                return
            giving = _rest_of(giving, waits_for)
        await asyncio.shield(asyncio.ensure_future(giving))


async def _rest_of(coroutine: Coroutine[Any, Any, None], waits_for: Any) -> None:
    """Goes on with what has begun elsewhere, and waits for this now."""
    await _going_on(coroutine, waits_for)


@types.coroutine
def _going_on(coroutine: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    with contextlib.suppress(StopIteration):
        while True:
            try:
                answer = yield waits_for
            except BaseException as error:  # noqa: BLE001 (it is raised where it is waited for)
                waits_for = coroutine.throw(error)
            else:
                waits_for = coroutine.send(answer)


class DatabaseShare(Database):
    """The connections of another one, for users that may take no more than `most` of them at once;
    who wants one more waits for these. The other one opens and closes them."""

    def __init__(self, whole: Database, most: int) -> None:
        # Not `super().__init__`: that makes a pool of its own.
        self.url = whole.url
        self._limits = whole._limits
        self._pool = whole._pool
        self._free = asyncio.Semaphore(most)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        async with self._free, super()._connection() as connection:
            yield connection


class _Checked:
    """Checks whether a connection still works, unless it worked a moment ago and has no input:
    checking each time would be a third of what a small request costs the database."""

    def __init__(self) -> None:
        self._checked_at_s: WeakKeyDictionary[AsyncConnection[Any], float] = WeakKeyDictionary()

    async def __call__(self, connection: AsyncConnection[Any]) -> None:
        now_s = time.monotonic()
        trusted = now_s - self._checked_at_s.get(connection, -_TRUSTED_S) < _TRUSTED_S
        if not trusted or _has_something_to_say(connection):
            await AsyncConnectionPool.check_connection(connection)
            self._checked_at_s[connection] = now_s


def _has_something_to_say(connection: AsyncConnection[Any]) -> bool:
    """Whether an idle connection has input: then the server has closed it, e.g. by a restart."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.ForeignKeyViolation as error:
        raise Conflict(
            "Something that this belongs to was deleted a moment ago.", next_step=Next.BEGIN_AGAIN
        ) from error
    except psycopg.errors.UniqueViolation as error:
        if error.diag.constraint_name not in _NAMES:
            raise
        raise Conflict(
            "Somebody else has taken the same name a moment ago.",
            next_step=Next.CHOOSE_ANOTHER_NAME,
        ) from error
    except (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable) as error:
        raise Unavailable(
            "Somebody else is changing the same data just now.", next_step=Next.TRY_AGAIN
        ) from error
    except psycopg.errors.QueryCanceled as error:
        raise Unavailable(
            "The database took too long to answer.", next_step=Next.TRY_AGAIN
        ) from error
    except psycopg.errors.IdleInTransactionSessionTimeout as error:
        raise Unavailable(
            "This took us too long, so nothing was changed.", next_step=Next.TRY_AGAIN
        ) from error
    except psycopg.errors.ReadOnlySqlTransaction as error:  # a fail-over is under way
        raise Unavailable(
            "The database takes no changes just now.", next_step=Next.TRY_AGAIN
        ) from error
    except _TOO_MUCH as error:
        raise PlatformError(f"This is too large for the database: {error}") from error
    except (PoolTimeout, PoolClosed, psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise _unavailable() from error


def _unavailable() -> Unavailable:
    return Unavailable("The database can't be reached just now.", next_step=Next.TRY_AGAIN)
