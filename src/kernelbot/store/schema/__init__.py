"""Functions, views and triggers, by subject.

They have no history, other than tables, which `migrations/` makes and changes: each is defined
exactly once, here, and all of them are replaced when one changes.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import LiteralString

from psycopg import Connection

SUBJECTS = (
    "accounts",
    "boards",
    "submissions",
    "runs",
    "scatter",
    "ranking",
    "duels",
    "queue",
    "announcing",
    "webhooks",
)
"""In the order of their dependencies."""

_CREATED = re.compile(
    r"^CREATE (?:(?P<routine>FUNCTION|AGGREGATE)|(?P<view>VIEW)|(?:CONSTRAINT )?TRIGGER) "
    r"(?P<name>\w+)"
    r"(?(routine)|(?(view)|[^;]*? ON (?P<table>\w+)))",
    re.MULTILINE,
)


@cache
def functions() -> LiteralString:
    """Statements that create every function, aggregate, view and trigger."""
    folder = Path(__file__).parent
    paths = [folder / subject / "functions.sql" for subject in SUBJECTS]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def are_current(connection: Connection) -> bool:
    """Whether the database's functions, views and triggers are those of `functions`."""
    found = connection.execute("SELECT to_regclass('schema_functions') IS NOT NULL").fetchone()
    if not found or not found[0]:
        return False
    row = connection.execute("SELECT sha256 FROM schema_functions").fetchone()
    return row is not None and row[0] == _sha256()


def replace_functions(connection: Connection) -> bool:
    """Drop what was created here before and create all of it again, in one transaction.

    Returns False if they were current. Only what is listed in `schema_functions` is dropped, so
    that an operator's own views stay; Postgres refuses if one of those depends on ours.
    """
    if are_current(connection):
        return False
    with connection.transaction():
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_functions ("
            " one boolean PRIMARY KEY DEFAULT true CHECK (one),"
            " sha256 bytea NOT NULL, drops text[] NOT NULL)"
        )
        row = connection.execute("SELECT drops FROM schema_functions FOR UPDATE").fetchone()
        for statement in row[0] if row else ():
            connection.execute(statement)
        connection.execute(functions())
        connection.execute(
            "INSERT INTO schema_functions (sha256, drops) VALUES (%(sha256)s, %(drops)s)"
            " ON CONFLICT (one) DO UPDATE SET sha256 = %(sha256)s, drops = %(drops)s",
            {"sha256": _sha256(), "drops": _drops()},
        )
    return True


def _drops() -> list[str]:
    """Statements that undo `functions`: names are unique, so no signature is needed."""
    return [_drop(created) for created in _CREATED.finditer(functions())][::-1]


def _drop(created: re.Match[str]) -> str:
    name = created["name"]
    if created["routine"]:
        return f"DROP ROUTINE {name}"
    if created["view"]:
        return f"DROP VIEW {name}"
    return f"DROP TRIGGER {name} ON {created['table']}"


def _sha256() -> bytes:
    return hashlib.sha256(functions().encode()).digest()
