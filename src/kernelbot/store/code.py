"""Each release's functions and views in a schema of the database, and which sessions use them.

A session finds those of its release first and then the tables, which all releases share. Triggers
are of the newest release: whoever writes to a table, one consistent set of functions follows.
"""

from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

from kernelbot.domain.errors import Conflict
from kernelbot.store.schema import Code
from kernelbot.store.shape import has_table

_TABLES: LiteralString = """coalesce(
    (SELECT relnamespace::regnamespace::text FROM pg_class
    WHERE oid = to_regclass('_yoyo_migration')),
    quote_ident(current_schema())
)"""
"""The schema of the tables, quoted if it must be; that of tables to come if there are none."""
_KEY: LiteralString = "hashtextextended('code:' || %(schema)s, 0)"
_USE: LiteralString = (
    f"SELECT pg_advisory_lock_shared({_KEY}),"
    f" set_config('search_path', concat_ws(', ', %(schema)s::text, {_TABLES}, 'pg_temp'), false)"
)
_USERS: LiteralString = f"""
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND granted
    AND (classid::bigint << 32) | objid::bigint = {_KEY}
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""  # noqa: S608  # of this file's own words


def using(code: Code) -> tuple[LiteralString, dict[str, Any]]:
    """The statement by which a session uses a release's functions and views, and its values. It
    locks them until the session ends, so that nobody drops them."""
    return _USE, {"schema": code.schema}


def without_code(connection: psycopg.Connection) -> None:
    """Let the session find tables alone, whatever its role or database is set to."""
    connection.execute(f"SELECT set_config('search_path', {_TABLES} || ', pg_temp', false)")


def exists(connection: psycopg.Connection, code: Code) -> bool:
    """Whether the database has the release's functions and views."""
    return code.schema in _schemas(connection)


def others(connection: psycopg.Connection, code: Code) -> list[str]:
    return sorted(_schemas(connection) - {code.schema})


def has_triggers(connection: psycopg.Connection, code: Code) -> bool:
    """Whether all triggers are the release's."""
    return len(_triggers_of(connection, [code.schema])) == len(code.triggers)


def has_unversioned(connection: psycopg.Connection) -> bool:
    """Whether functions and views of a release up to 0.1.0 are among the tables: these had one set
    in the whole database."""
    return has_table(connection, "schema_functions") and bool(
        connection.execute("SELECT 1 FROM schema_functions WHERE drops <> '{}'").fetchone()
    )


def create(connection: psycopg.Connection, code: Code) -> bool:
    """Create the release's functions and views unless they are there, and make all triggers those
    of this release. Run it in a transaction. Returns whether anything was done."""
    if exists(connection, code) and has_triggers(connection, code):
        return False
    _drop_triggers(connection)
    path = SQL("{}, {}, pg_temp").format(Identifier(code.schema), SQL(_tables(connection)))
    made = not exists(connection, code)
    if made:
        connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(code.schema)))
    connection.execute(SQL("SET LOCAL search_path = {}").format(path))
    if made:
        connection.execute(code.functions.encode())
        _fix_path_of_triggers(connection, code, path.as_string(connection))
    for trigger in code.triggers:
        connection.execute(trigger.encode())
    without_code(connection)
    if made:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS code_schemas ("
            " name text PRIMARY KEY, drops text[] NOT NULL,"
            " created_at timestamptz NOT NULL DEFAULT now())"
        )
        connection.execute("INSERT INTO code_schemas VALUES (%s, %s)", (code.schema, code.drops))
    return True


def drop_others(connection: psycopg.Connection, code: Code) -> list[str]:
    """Drop functions and views of all other releases; returns the names of their schemas. Run it
    in a transaction.

    An operator's own views stay: Postgres refuses if one of those depends on ours. Raises
    `Conflict` if a session uses them.
    """
    dropped = others(connection, code)
    for name in dropped:
        _refuse_used(connection, name)
    for statement in _triggers_of(connection, dropped):
        connection.execute(statement.encode())
    for name in dropped:
        row = connection.execute(
            "DELETE FROM code_schemas WHERE name = %s RETURNING drops", (name,)
        ).fetchone()
        for statement in row[0] if row else ():
            connection.execute(statement)
        connection.execute(SQL("DROP SCHEMA {}").format(Identifier(name)))
    if has_unversioned(connection):
        _drop_unversioned(connection, "DROP %")
        dropped.append("functions of before")
    return dropped


def _refuse_used(connection: psycopg.Connection, name: str) -> None:
    """Nobody begins to use it before the transaction ends, either."""
    values = {"schema": name}
    row = connection.execute(f"SELECT pg_try_advisory_xact_lock({_KEY})", values).fetchone()
    if row and row[0]:
        return
    users = connection.execute(_USERS, values).fetchone()
    raise Conflict(
        f"Another release still works with the database, over {users[0] if users else 0} "
        "connections.",
        hint="Stop its servers, workers and bots, and try again. Nothing was changed.",
    )


def _fix_path_of_triggers(connection: psycopg.Connection, code: Code, path: str) -> None:
    """Whoever's session a trigger works in, its function and all that this calls are of one
    release."""
    rows = connection.execute(
        "SELECT oid::regprocedure::text FROM pg_proc"
        " WHERE pronamespace = %s::regnamespace AND prorettype = 'trigger'::regtype",
        (code.schema,),
    ).fetchall()
    for (function,) in rows:
        connection.execute(f"ALTER FUNCTION {function} SET search_path = {path}".encode())


def _drop_triggers(connection: psycopg.Connection) -> None:
    for statement in _triggers_of(connection, sorted(_schemas(connection))):
        connection.execute(statement.encode())
    if has_unversioned(connection):
        _drop_unversioned(connection, "DROP TRIGGER %")


def _drop_unversioned(connection: psycopg.Connection, like: str) -> None:
    """Run those DROP statements that have been noted in a database of a release up to 0.1.0."""
    row = connection.execute("SELECT drops FROM schema_functions").fetchone()
    values = {"like": like}
    drops = connection.execute(
        "SELECT one FROM unnest(%(drops)s::text[]) one WHERE one LIKE %(like)s",
        values | {"drops": row[0] if row else []},
    ).fetchall()
    for (statement,) in drops:
        connection.execute(statement)
    connection.execute(
        "UPDATE schema_functions SET drops = ARRAY("
        "SELECT one FROM unnest(drops) WITH ORDINALITY _ (one, position)"
        " WHERE one NOT LIKE %(like)s ORDER BY position)",
        values,
    )


def _triggers_of(connection: psycopg.Connection, schemas: list[str]) -> list[str]:
    """Statements that drop the triggers whose functions are in the schemas."""
    rows = connection.execute(
        "SELECT format('DROP TRIGGER %%I ON %%s', tgname, tgrelid::regclass)"
        " FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
        " JOIN pg_namespace n ON n.oid = p.pronamespace"
        " WHERE NOT tgisinternal AND n.nspname = ANY(%s)",
        (schemas,),
    ).fetchall()
    return [str(row[0]) for row in rows]


def _schemas(connection: psycopg.Connection) -> set[str]:
    if not has_table(connection, "code_schemas"):
        return set()
    return {str(row[0]) for row in connection.execute("SELECT name FROM code_schemas")}


def _tables(connection: psycopg.Connection) -> Any:
    row = connection.execute(f"SELECT {_TABLES}").fetchone()
    assert row is not None, "it is one row"
    return row[0]
