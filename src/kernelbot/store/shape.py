"""Which tables a database has, and which ones given migrations make."""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from kernelbot.store.history import Migration

_Rows = frozenset[tuple[object, ...]]
_SCRATCH = "kernelbot_comparing"
_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    coalesce(pg_get_expr(d.adbin, d.adrelid), '')
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
"""
_OBJECTS = """
SELECT c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
WHERE c.conrelid <> 0 AND c.contype <> 'n' AND c.connamespace = current_schema()::regnamespace
UNION ALL
SELECT tablename, indexname, replace(indexdef, format(' ON %I.', schemaname), ' ON ')
FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL
SELECT 'type', t.typname, string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
WHERE t.typnamespace = current_schema()::regnamespace GROUP BY t.typname
"""


@dataclass(frozen=True)
class Shape:
    """Tables with their columns, and what belongs to them with its definition."""

    columns: _Rows
    objects: _Rows

    def is_in(self, other: "Shape") -> bool:
        """Whether all of it is in the other, with exactly the columns of these tables; there may be
        an operator's own besides."""
        ours = {row[0] for row in self.columns}
        columns = {row for row in other.columns if row[0] in ours}
        return columns == self.columns and other.objects >= self.objects


def has_table(connection: psycopg.Connection, name: str) -> bool:
    """Whether the session finds a table of this name."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
    return bool(row and row[0])


def shape_of(connection: psycopg.Connection) -> Shape:
    return Shape(frozenset(connection.execute(_COLUMNS)), frozenset(connection.execute(_OBJECTS)))


def made_by(connection: psycopg.Connection, migrations: Sequence[Migration]) -> Shape:
    """What the migrations make: they are applied to an empty schema, which is rolled back. Run it
    in a transaction."""
    with connection.transaction(force_rollback=True):
        connection.execute(f"CREATE SCHEMA {_SCRATCH}")
        connection.execute(f"SET LOCAL search_path = {_SCRATCH}")
        for migration in migrations:
            connection.execute(migration.text)
        return shape_of(connection)
