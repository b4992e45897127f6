"""The role that owns what is ours in the embedded server, and isn't its superuser: a statement that
somebody could bring in reads no file, starts no program and changes no other database."""

from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

APP_ROLE = "kernelbot"
_OF_THE_SUPERUSER: LiteralString = """
WITH schemas AS (
    SELECT oid FROM pg_namespace
    WHERE nspname NOT LIKE 'pg!_%' ESCAPE '!' AND nspname <> 'information_schema'
), found (kind, class, id, name, owner) AS (
    -- A sequence that belongs to a column goes with its table.
    SELECT CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
        'pg_class'::regclass, oid, oid::regclass::text, relowner
    FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'S') AND relnamespace IN (TABLE schemas)
        AND NOT EXISTS (SELECT 1 FROM pg_depend
            WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype IN ('a', 'i'))
    UNION ALL
    SELECT 'ROUTINE', 'pg_proc'::regclass, oid, oid::regprocedure::text, proowner
    FROM pg_proc WHERE pronamespace IN (TABLE schemas)
    UNION ALL
    -- A table's own type goes with it, and an array's with its elements'.
    SELECT 'TYPE', 'pg_type'::regclass, oid, oid::regtype::text, typowner
    FROM pg_type t WHERE typnamespace IN (TABLE schemas) AND (typtype IN ('e', 'd')
        OR EXISTS (SELECT 1 FROM pg_class WHERE pg_class.oid = t.typrelid AND relkind = 'c'))
    UNION ALL
    SELECT 'SCHEMA', 'pg_namespace'::regclass, oid, oid::regnamespace::text, nspowner
    FROM pg_namespace WHERE oid IN (TABLE schemas)
)
SELECT kind, name FROM found
WHERE owner = 'postgres'::regrole AND NOT EXISTS (SELECT 1 FROM pg_depend
    WHERE classid = class AND objid = id AND deptype = 'e')
"""
"""Everything of the database that is neither Postgres' own nor an extension's."""


def hand_over(connection: psycopg.Connection) -> None:
    """Make the role if it is missing, and make it the owner of the connected database and of all
    that the superuser has in it: all or nothing. The connection must be the superuser's."""
    role = Identifier(APP_ROLE)
    with connection.transaction():
        found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (APP_ROLE,))
        if found.fetchone() is None:
            connection.execute(SQL("CREATE ROLE {} LOGIN").format(role))
        database = Identifier(connection.info.dbname)
        connection.execute(SQL("ALTER DATABASE {} OWNER TO {}").format(database, role))
        for kind, name in connection.execute(_OF_THE_SUPERUSER).fetchall():
            # Both are Postgres' own words for it, and quoted if they must be.
            statement = f"ALTER {kind} {name} OWNER TO {APP_ROLE}"
            connection.execute(statement.encode())
