"""Migrates a database to this release's schema, and checks whether it has it.

Our own tables come from the numbered files in `migrations/`, functions and views from `schema/`,
those of the background tasks from procrastinate's own schema and migrations. All of it is one
transaction: whatever goes wrong, the database stays as it was.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import LiteralString

import psycopg
from procrastinate.schema import SchemaManager

from kernelbot.domain.errors import PlatformError, Unavailable
from kernelbot.store import ledger
from kernelbot.store.history import (
    Age,
    Migration,
    age,
    known_migrations,
    newer,
    older,
    other_line,
)
from kernelbot.store.locks import Lock
from kernelbot.store.schema import are_current, replace_functions

_NO_LIMITS: LiteralString = """
SELECT set_config(name, '0', false)
FROM unnest('{lock_timeout,statement_timeout,idle_in_transaction_session_timeout}'::text[]) name
"""
"""A migration takes as long as it needs, whatever its role or database is set to, and waits for
another one however long that takes."""
_LOCKED_S = 60.0


def migrate(
    url: str,
    *,
    before: Callable[[], object] | None = None,
    migrations: Sequence[Migration] | None = None,
    locked_s: float = _LOCKED_S,
) -> list[str]:
    """Apply what is missing; returns the names of what was applied. Blocks.

    `before` is called if tables that are there will be changed, while nobody else migrates; what
    it raises ends the migration. `migrations` None: this release's. `locked_s`: how long to wait
    for a table that somebody uses; meanwhile nobody else gets it.

    Raises `SchemaOutdated` when the database is of a newer release or of another line,
    `PlatformError` when a migration fails, `Unavailable`. Then nothing was changed.
    """
    known = known_migrations() if migrations is None else migrations
    with _connected(url) as connection:
        connection.execute(_NO_LIMITS)
        connection.execute("SELECT pg_advisory_lock(%s)", (Lock.MIGRATION.value,))
        limit = f"{round(locked_s * 1000)}ms"
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (limit,))
        if _will_change_tables(connection, known) and before is not None:
            before()
        with connection.transaction():
            if ledger.keeps_names_alone(connection):
                ledger.adopt(connection, known)
            done = [*_migrate_ours(connection, known), *_migrate_queue(connection)]
            with _failing_as("functions"):
                return done + ["functions"] * replace_functions(connection)


def check_schema(url: str) -> None:
    """Raise `SchemaOutdated` unless the database has exactly this release's schema. Blocks."""
    known = known_migrations()
    with _connected(url) as connection:
        found = _age(connection, known)
        current = are_current(connection) and not ledger.keeps_names_alone(connection)
    if found is Age.OLDER or not current:
        raise older()


def _will_change_tables(connection: psycopg.Connection, known: Sequence[Migration]) -> bool:
    """Whether there are any, and they aren't current. Raises `SchemaOutdated` for those of a newer
    release or another line."""
    found = _age(connection, known)
    if ledger.keeps_names_alone(connection):
        with connection.transaction(force_rollback=True):
            ledger.adopt(connection, known)
        return True
    return found is Age.OLDER and bool(ledger.applied(connection))


def _age(connection: psycopg.Connection, known: Sequence[Migration]) -> Age:
    """`CURRENT` or `OLDER`, by our tables and those of the background tasks. Raises
    `SchemaOutdated` for the others."""
    applied = ledger.applied(connection)
    found, queue = age(applied, known), _queue_applied(connection)
    if ledger.keeps_names_alone(connection):
        applied = ledger.renamed(applied)
        found = age(applied, known)
    if found is Age.OTHER_LINE:
        raise other_line(applied, known)
    if found is Age.NEWER or queue - set(_queue_files()):
        raise newer()
    return found if queue == set(_queue_files()) else Age.OLDER


def _migrate_ours(connection: psycopg.Connection, known: Sequence[Migration]) -> Iterator[str]:
    applied = ledger.applied(connection)
    if not applied:
        ledger.create(connection)
    for migration in known[len(applied) :]:
        with _failing_as(migration.name):
            connection.execute(migration.text)
        ledger.note(connection, migration)
        yield migration.name


@contextlib.contextmanager
def _failing_as(name: str) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise Unavailable(
            f"The migration {name} can't have a table that is in use.",
            hint="Nothing was changed. Stop what uses the database, and try again.",
        ) from error
    except psycopg.Error as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise PlatformError(
            f"The migration {name} failed: {reason[0]}",
            hint="The database is as it was, and the release before still works with it. Please "
            "report this.",
        ) from error


@contextlib.contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection]:
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"The database can't be reached: {str(error).strip()}",
            hint="Check DATABASE_URL and that Postgres runs.",
        ) from error
    with connection:
        yield connection


def _exists(connection: psycopg.Connection, table: LiteralString) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    return bool(row and row[0])


def _queue_files() -> list[str]:
    folder = resources.files("procrastinate.sql") / "migrations"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))


def _queue_applied(connection: psycopg.Connection) -> set[str]:
    if not _exists(connection, "queue_migrations"):
        return set()
    return {str(row[0]) for row in connection.execute("SELECT name FROM queue_migrations")}


def _migrate_queue(connection: psycopg.Connection) -> Iterator[str]:
    """Procrastinate's schema: whole when there is none, else its own migrations in order."""
    connection.execute("CREATE TABLE IF NOT EXISTS queue_migrations (name text PRIMARY KEY)")
    applied = _queue_applied(connection)
    folder = resources.files("procrastinate.sql") / "migrations"
    whole = not _exists(connection, "procrastinate_jobs")
    if whole:
        connection.execute(SchemaManager.get_schema())
    for name in _queue_files():
        if name in applied:
            continue
        if not whole:
            with _failing_as(name):
                connection.execute((folder / name).read_text())
        connection.execute("INSERT INTO queue_migrations VALUES (%s)", (name,))
        yield name
