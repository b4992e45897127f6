"""One embedded Postgres per test session, and databases with the schema."""

import asyncio
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from kernelbot.store.database import ReadSession
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.store.owner import APP_ROLE
from kernelbot.store.schema import this_code
from tests.support.reused import ReusedDatabase

_TEMPLATE = "kernelbot_template"
_OWNER = Identifier(APP_ROLE)
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 4 << 30
"""What must be free in memory's own file system, so that 16 servers at once find room there."""
LIMITS: LiteralString = """
SELECT current_setting('lock_timeout') AS locked,
    current_setting('statement_timeout') AS slow,
    current_setting('idle_in_transaction_session_timeout') AS idle
"""
"""Those of the session that asks."""
WAITS_FOR_A_LOCK = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


_OBJECTS: LiteralString = """
SELECT 'column', concat_ws(' ', table_name, column_name), concat_ws(' ', data_type, column_default)
FROM information_schema.columns WHERE table_schema = 'public'
UNION SELECT 'function', oid::regprocedure::text, concat(prosrc, proconfig)
FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^(public|kernelbot_code_.*)$'
UNION SELECT 'view', concat_ws('.', schemaname, viewname), definition
FROM pg_views WHERE schemaname ~ '^(public|kernelbot_code_.*)$'
UNION SELECT 'type', t.typname, string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.typname
UNION SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION SELECT 'constraint', concat_ws(' ', conrelid::regclass, conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""


def objects(url: str) -> set[tuple[str, ...]]:
    """Everything in the schema, with the text that defines it."""
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = ''")  # so that every name is a whole one
        return set(connection.execute(_OBJECTS).fetchall())


class TestServer:
    """Hands out databases."""

    __test__ = False  # a helper, whatever its name says to pytest

    def __init__(self, postgres: EmbeddedPostgres, names: str = "test_") -> None:
        """`names` is what those of its databases begin with."""
        self._postgres = postgres
        self._names = names
        self._numbers = itertools.count(1)
        self._admin = psycopg.connect(postgres.admin_url("postgres"), autocommit=True)
        self._path = SQL("{}, public, pg_temp").format(Identifier(this_code().schema))
        self._clean: list[ReusedDatabase] = []

    def prepare(self) -> None:
        """Set the server up, and make what databases are copied from."""
        # Nothing here outlives the session, so nothing needs to reach the disk.
        self._admin.execute("ALTER SYSTEM SET fsync = off")
        self._admin.execute("ALTER SYSTEM SET max_wal_size = '128MB'")
        # Plans are those of new tables, however long a database has been used.
        self._admin.execute("ALTER SYSTEM SET autovacuum = off")
        self._admin.execute("SELECT pg_reload_conf()")
        self._admin.execute(
            SQL("CREATE DATABASE {} OWNER {}").format(Identifier(_TEMPLATE), _OWNER)
        )
        migrate(self._postgres.url(_TEMPLATE))

    def in_fork(self, names: str) -> "TestServer":
        """The same server, for a process that was forked from this one. Its databases have names
        that begin so; connections are its own."""
        return TestServer(self._postgres, names)

    def drop_all(self, names: str) -> None:
        """Drop the databases of a process that has ended."""
        found = self._admin.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", (names,)
        )
        for (name,) in found.fetchall():
            self._drop(name)

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The URL of a database that is as new. Whoever connects to a migrated one finds this
        release's functions and views, as our own connections do anywhere."""
        if not migrated:
            name = self._copy("template0")
            try:
                yield self._postgres.url(name)
            finally:
                self._drop(name)
            return
        database = self._clean.pop() if self._clean else self._migrated()
        try:
            yield self._postgres.url(database.name)
        finally:
            if database.clean():
                self._clean.append(database)
            else:
                database.close()
                self._drop(database.name)

    @contextmanager
    def database_in(self, encoding: LiteralString) -> Iterator[str]:
        """The URL of an empty database that has this encoding."""
        name = f"{self._names}{next(self._numbers)}"
        self._admin.execute(
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING {} LOCALE 'C'").format(
                Identifier(name), _OWNER, Literal(encoding)
            )
        )
        try:
            yield self._postgres.url(name)
        finally:
            self._drop(name)

    def close(self) -> None:
        """Close all connections."""
        for database in self._clean:
            database.close()
        self._admin.close()

    def _migrated(self) -> ReusedDatabase:
        name = self._copy(_TEMPLATE)
        self._admin.execute(
            SQL("ALTER DATABASE {} SET search_path = {}").format(Identifier(name), self._path)
        )
        return ReusedDatabase(name, self._postgres.admin_url(name))

    def _copy(self, template: str) -> str:
        name = f"{self._names}{next(self._numbers)}"
        self._admin.execute(
            # A copy of files, with no word of it in the log, costs half of what the default does.
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY file_copy").format(
                Identifier(name), _OWNER, Identifier(template)
            )
        )
        return name

    def _drop(self, name: str) -> None:
        self._admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def test_server() -> Iterator[TestServer]:
    """A server in a temporary folder, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-test-", dir=_fast_folder()))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        postgres.start()
        server = TestServer(postgres)
        try:
            server.prepare()
            yield server
        finally:
            server.close()
    finally:
        postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


def _fast_folder() -> Path | None:
    """Where a database is made in a third of the time; None (the usual place) without room."""
    room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES
    return _MEMORY if room else None


async def until_there_is(session: ReadSession, statement: LiteralString) -> None:
    """Return once the statement finds a row."""
    found = None
    async with asyncio.timeout(60):
        while found is None:
            await asyncio.sleep(0.01)
            # What a transaction has once seen of others' activity stays so for it, unless it asks.
            await session.one("SELECT pg_stat_clear_snapshot()")
            found = await session.one(statement)


def wait_until_there_is(url: str, statement: LiteralString) -> None:
    """The same from outside of an event loop."""
    deadline = time.monotonic() + 60
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(statement).fetchone() is None:
            assert time.monotonic() < deadline, statement
            time.sleep(0.01)


@contextmanager
def slow_statements(url: str, table: LiteralString) -> Iterator[Callable[[], list[str]]]:
    """While the block runs: how long statements may take in the transactions that added rows to
    the table or deleted some, in their order."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE public.seen (id bigint GENERATED ALWAYS AS IDENTITY, slow text);"
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN"
            " INSERT INTO public.seen (slow) VALUES (current_setting('statement_timeout'));"
            " RETURN NULL; END $$;"
            f"CREATE TRIGGER note AFTER INSERT OR DELETE ON public.{table} EXECUTE FUNCTION note()"
        )

        def seen() -> list[str]:
            rows = connection.execute("SELECT slow FROM public.seen ORDER BY id").fetchall()
            return [slow for (slow,) in rows]

        yield seen
