"""One embedded Postgres per test session, a database per test from a migrated template."""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

from kernelbot.store.database import ReadSession
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate

_TEMPLATE = "kernelbot_template"
WAITS_FOR_A_LOCK = (
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


class TestServer:
    """Hands out databases."""

    __test__ = False  # a helper, whatever its name says to pytest

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        self._numbers = itertools.count(1)
        self._admin = psycopg.connect(postgres.url("postgres"), autocommit=True)
        # Nothing here outlives the session, so nothing needs to reach the disk.
        self._admin.execute("ALTER SYSTEM SET fsync = off")
        self._admin.execute("SELECT pg_reload_conf()")
        self._admin.execute(SQL("CREATE DATABASE {}").format(Identifier(_TEMPLATE)))
        migrate(postgres.url(_TEMPLATE))

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The URL of a fresh database, dropped afterwards."""
        name = f"test_{next(self._numbers)}"
        template = _TEMPLATE if migrated else "template0"
        self._admin.execute(
            SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY wal_log").format(
                Identifier(name), Identifier(template)
            )
        )
        try:
            yield self._postgres.url(name)
        finally:
            self._admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def close(self) -> None:
        """Close the administrating connection."""
        self._admin.close()


@contextmanager
def test_server() -> Iterator[TestServer]:
    """A server in a temporary folder, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-test-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        postgres.start()
        server = TestServer(postgres)
        try:
            yield server
        finally:
            server.close()
    finally:
        postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


async def until_there_is(session: ReadSession, statement: LiteralString) -> None:
    """Return once the statement finds a row."""
    found = None
    async with asyncio.timeout(10):
        while found is None:
            await asyncio.sleep(0.01)
            found = await session.one(statement)
