"""Migrates a database to this release's schema, and checks whether it has it.

Our own tables come from the numbered files in `migrations/` (yoyo), functions and views from
`schema/`, those of the background tasks from procrastinate's own schema and migrations; here all
of it is one step.
"""

import contextlib
import logging
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from procrastinate.schema import SchemaManager
from yoyo import get_backend, read_migrations

from kernelbot.domain.errors import SchemaOutdated, Unavailable
from kernelbot.store.schema import are_current, replace_functions

_LOCK = 7_241_533_011  # any number; the advisory lock that lets one migration run at a time


def migrate(url: str) -> list[str]:
    """Apply what is missing; returns the names of what was applied. Blocks.

    Raises `SchemaOutdated` when the database is of a newer release, `Unavailable`.
    """
    with _connected(url) as connection, _backend(url) as backend:
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        backend.break_lock()  # we hold our own lock: a row there is of a killed migration
        known = read_migrations(str(_folder()))
        _refuse_newer(backend, known)
        missing = backend.to_apply(known)
        with backend.lock():
            backend.apply_migrations(missing)
        done = [migration.id for migration in missing] + _migrate_queue(connection)
        return done + ["functions"] * replace_functions(connection)


def check_schema(url: str) -> None:
    """Raise `SchemaOutdated` unless the database has exactly this release's schema. Blocks."""
    with _connected(url) as connection:
        applied = _applied(connection)
        queue = _queue_applied(connection)
        current = are_current(connection)
    known = {migration.id for migration in read_migrations(str(_folder()))}
    if applied - known:
        raise SchemaOutdated(
            "The database's schema is of a newer release than this one.",
            hint="Update this installation.",
        )
    if known - applied or set(_queue_files()) - queue or not current:
        raise SchemaOutdated(
            "The database's schema is older than this release.",
            hint="Run `kernelbot db migrate`.",
        )


def _folder() -> Path:
    return Path(__file__).parent / "migrations"


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


@contextlib.contextmanager
def _backend(url: str) -> Iterator[Any]:
    logging.getLogger("yoyo").setLevel(logging.WARNING)
    scheme, rest = url.split("://", 1)
    assert scheme in ("postgresql", "postgres"), f"not a Postgres URL: {scheme}"
    backend = get_backend(f"postgresql+psycopg://{rest}")
    try:
        yield backend
    finally:
        backend.connection.close()


def _refuse_newer(backend: Any, known: Any) -> None:
    applied = set(backend.get_applied_migration_hashes())
    if applied - {migration.hash for migration in known}:
        raise SchemaOutdated(
            "The database's schema is of a newer release than this one.",
            hint="Update this installation.",
        )


def _exists(connection: psycopg.Connection, table: LiteralString) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone()
    return bool(row and row[0])


def _applied(connection: psycopg.Connection) -> set[str]:
    if not _exists(connection, "_yoyo_migration"):
        return set()
    rows = connection.execute("SELECT migration_id FROM _yoyo_migration").fetchall()
    return {row[0] for row in rows}


def _queue_files() -> list[str]:
    folder = resources.files("procrastinate.sql") / "migrations"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))


def _queue_applied(connection: psycopg.Connection) -> set[str]:
    if not _exists(connection, "queue_migrations"):
        return set()
    return {str(row[0]) for row in connection.execute("SELECT name FROM queue_migrations")}


def _migrate_queue(connection: psycopg.Connection) -> list[str]:
    """Procrastinate's schema: whole when there is none, else its own migrations in order."""
    with connection.transaction():
        connection.execute("CREATE TABLE IF NOT EXISTS queue_migrations (name text PRIMARY KEY)")
        applied = _queue_applied(connection)
        missing = [name for name in _queue_files() if name not in applied]
        folder = resources.files("procrastinate.sql") / "migrations"
        if not _exists(connection, "procrastinate_jobs"):
            connection.execute(SchemaManager.get_schema())
        else:
            for name in missing:
                connection.execute((folder / name).read_text())
        for name in missing:
            connection.execute("INSERT INTO queue_migrations VALUES (%s)", (name,))
    return missing
