"""A migrated database that tests have one after the other: to empty one costs 4 ms of a processor,
and to copy the template and drop the copy 25."""

import time
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from tests.support.kept_sessions import numbers_of_kept

_MOST_BYTES = 1 << 20
"""Of what deleted rows leave behind: beside more, Postgres plans otherwise than for a new one."""
_LONGEST_S = 10.0
_AS_ITS_OWN = "-c session_replication_role=replica"
"""Neither triggers nor foreign keys are asked when rows are deleted."""

_SEND_AWAY: LiteralString = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND NOT pid = ANY(%s)
"""
_SETTINGS: LiteralString = """
SELECT datdba, datallowconn, datconnlimit, datacl,
    ARRAY(SELECT (setrole, setconfig) FROM pg_db_role_setting WHERE setdatabase = d.oid)::text
FROM pg_database d WHERE datname = current_database()
"""
_FILLED: LiteralString = """
SELECT c.oid, n.nspname, c.relname, pg_relation_size(c.oid) AS bytes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND pg_relation_size(c.oid) > 0
"""
_CHANGED: LiteralString = """
SELECT count(*) FROM pg_class
WHERE (relnamespace = 'pg_catalog'::regnamespace AND NOT relisshared OR oid = ANY(%s))
    AND pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid)
        + pg_stat_get_tuples_deleted(oid) > 0
"""
_COUNTED: LiteralString = """
SELECT seqrelid, pg_sequence_last_value(seqrelid) FROM pg_sequence
WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
_COUNT_ANEW: LiteralString = """
SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
WHERE pg_sequence_last_value(seqrelid) IS NOT NULL AND NOT seqrelid = ANY(%s)
"""


class ReusedDatabase:
    """One database, and a connection of the superuser's that stays."""

    def __init__(self, name: str, admin_url: str) -> None:
        """The database is a new copy of the template, which nobody has used."""
        self.name = name
        self._connection = psycopg.connect(admin_url, autocommit=True, options=_AS_ITS_OWN)
        self._settings = self._rows(_SETTINGS)
        self._first_rows = [oid for oid, *_ in self._rows(_FILLED)]
        self._first_numbers = self._rows(_COUNTED)

    def clean(self) -> bool:
        """Bring it back to what it was; returns False if that takes a new copy, e.g. because its
        schema was changed. Whoever is still connected is sent away."""
        try:
            return self._all_have_left() and self._is_as_made() and self._emptied()
        except psycopg.Error:  # a test may have ended our connection, too
            return False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _all_have_left(self) -> bool:
        deadline = time.monotonic() + _LONGEST_S
        while self._rows(_SEND_AWAY, (numbers_of_kept(),)):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def _is_as_made(self) -> bool:
        # Once those who wrote have left, Postgres has counted all that they wrote.
        changed = self._rows(_CHANGED, (self._first_rows,))
        return changed == [(0,)] and self._rows(_SETTINGS) == self._settings

    def _emptied(self) -> bool:
        filled = [row for row in self._rows(_FILLED) if row[0] not in self._first_rows]
        if sum(size for *_, size in filled) > _MOST_BYTES:
            return False
        deletions = [
            SQL("DELETE FROM {}").format(Identifier(schema, table))
            for _, schema, table, _ in filled
        ]
        self._do(SQL("; ").join(deletions))
        self._rows(_COUNT_ANEW, ([oid for oid, _ in self._first_numbers],))
        return set(self._first_numbers) == set(self._rows(_COUNTED))

    def _do(self, statements: Composed) -> None:
        self._connection.execute(statements)

    def _rows(
        self, statement: LiteralString, values: tuple[object, ...] = ()
    ) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()
