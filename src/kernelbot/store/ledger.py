"""The table in which a database says which migrations it has, and with which content.

It is the one that yoyo wrote until 0.1.0, with a column for the content, so that those releases
still read it and say that such a database is newer than they are.
"""

import hashlib
from collections.abc import Sequence

import psycopg

from kernelbot.store.history import Age, Applied, Migration, age, completing_migrations, other_line
from kernelbot.store.shape import has_table, made_by, shape_of

_RENAMED = {
    "0008.sent_forms": "0007.sent_forms",
    "0010.signing_keys": "0009.signing_keys",
    "0016.untimed_runs": "0011.untimed_runs",
}
"""Names that migrations had for some hours, and those that they have."""


def applied(connection: psycopg.Connection) -> tuple[Applied, ...]:
    """What the database has, in order; empty for one without our tables."""
    if not has_table(connection, "_yoyo_migration"):
        return ()
    # One that kept names alone has no such column, and then its name is nothing but a NULL.
    rows = connection.execute(
        "SELECT migration_id, to_jsonb(m) ->> 'content_sha256' FROM _yoyo_migration m"
    )
    return tuple(sorted((Applied(*row) for row in rows), key=lambda one: one.name))


def keeps_names_alone(connection: psycopg.Connection) -> bool:
    """Whether a release until 0.1.0 has written it, so that `adopt` must come first."""
    row = connection.execute(
        "SELECT to_regclass('_yoyo_migration') IS NOT NULL AND NOT EXISTS ("
        "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('_yoyo_migration')"
        " AND attname = 'content_sha256')"
    ).fetchone()
    return bool(row and row[0])


def create(connection: psycopg.Connection) -> None:
    """An empty table for a database without any."""
    connection.execute(
        "CREATE TABLE _yoyo_migration (migration_hash varchar(64) PRIMARY KEY,"
        " migration_id varchar(255), applied_at_utc timestamp, content_sha256 text);"
        "CREATE TABLE _yoyo_version (version integer PRIMARY KEY, installed_at_utc timestamp);"
        "INSERT INTO _yoyo_version VALUES (2, now() AT TIME ZONE 'UTC')"
    )


def note(connection: psycopg.Connection, migration: Migration) -> None:
    """Say that the database has it."""
    key = hashlib.sha256(migration.name.encode()).hexdigest()  # as yoyo made it
    connection.execute(
        "INSERT INTO _yoyo_migration VALUES (%s, %s, now() AT TIME ZONE 'UTC', %s)",
        (key, migration.name, migration.sha256),
    )


def adopt(connection: psycopg.Connection, known: Sequence[Migration]) -> None:
    """Find out by its tables with which content a database has its migrations, and note that.

    Before 0.1.0 some were added to after they had been applied to somebody's data: what such a
    database lacks of them it gets (`migrations/completed/`). Run it in a transaction. Raises
    `SchemaOutdated` for one of another line.
    """
    found = renamed(applied(connection))
    names = {one.name for one in found}
    for migration in completing_migrations():
        if migration.name in names:
            connection.execute(migration.text)
    has = _has(connection, known, len(found))
    if age(found, known) is Age.OTHER_LINE or has is None:
        raise other_line(found, known)
    connection.execute(
        "ALTER TABLE _yoyo_migration ADD COLUMN content_sha256 text;"
        "DELETE FROM _yoyo_migration;"
        "DROP TABLE IF EXISTS _yoyo_log, yoyo_lock"
    )
    for migration in has:
        note(connection, migration)


def _has(
    connection: psycopg.Connection, known: Sequence[Migration], noted: int
) -> Sequence[Migration] | None:
    """The migrations that are noted, or one more: yoyo noted a migration after it was committed,
    and may have been killed in between. None: the tables are neither's."""
    here = shape_of(connection)
    one_more, those = made_by(connection, known[: noted + 1]), made_by(connection, known[:noted])
    if one_more != those and one_more.is_in(here):
        return known[: noted + 1]
    return known[:noted] if those.is_in(here) else None


def renamed(found: Sequence[Applied]) -> tuple[Applied, ...]:
    """The same under the names that they have today."""
    names = sorted(_RENAMED.get(one.name, one.name) for one in found)
    return tuple(Applied(name, None) for name in names)
