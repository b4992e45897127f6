"""Migrates a database to this release's schema, and checks whether this release works with it.

Our own tables come from the numbered files in `migrations/`, functions and views from `schema/`,
those of the background tasks from procrastinate's own schema and migrations. All of it is one
transaction: whatever goes wrong, the database stays as it was.

Before a release is deployed, migrations add what it needs, beside servers of the release before.
Once none of those runs any more, migrations that contract (`NUMBER.name.after.sql`) take away what
only they needed, and their functions and views go.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import LiteralString

import psycopg
from procrastinate.schema import SchemaManager
from psycopg.sql import SQL, Identifier

from kernelbot.domain.errors import Conflict, PlatformError, Unavailable
from kernelbot.store import code, ledger
from kernelbot.store.connections import CONNECT_S, why_unreachable
from kernelbot.store.history import Age, Migration, age, known_migrations, newer, older, other_line
from kernelbot.store.locks import Lock
from kernelbot.store.schema import Code, this_code
from kernelbot.store.shape import has_table

_NO_LIMITS: LiteralString = """
SELECT set_config(name, '0', false)
FROM unnest('{lock_timeout,statement_timeout,idle_in_transaction_session_timeout}'::text[]) name
"""
"""A migration takes as long as it needs, whatever its role or database is set to, and waits for
another one however long that takes."""
_LOCKED_S = 60.0
_TRY_S = 0.5
"""How long others wait while we wait for all tables. Less than Postgres' `deadlock_timeout`, so
that none of them is ended because of us."""
_LONG_TRY_S = 2.0
"""Every few times it is longer: only who has waited for a second interrupts an autovacuum."""
_LONG_EVERY = 8
_PAUSE_S = 0.3
_WAITED_TOO_LONG = (
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.LockNotAvailable,
)
_OURS: LiteralString = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    AND pg_has_role(relowner, 'USAGE')
ORDER BY relname
"""
"""The tables that we may lock; nobody but a migration has several of them so."""


@dataclass(frozen=True)
class Release:
    """What a release wants a database to have."""

    migrations: Sequence[Migration]
    code: Code


@cache
def this_release() -> Release:
    """The one that runs."""
    return Release(known_migrations(), this_code())


def migrate(
    url: str,
    *,
    finish: bool = False,
    before: Callable[[], object] | None = None,
    release: Release | None = None,
    locked_s: float = _LOCKED_S,
) -> list[str]:
    """Apply what is missing; returns the names of what was applied. Blocks.

    Servers of the release before work on, unless `finish`, which takes away what only they needed.
    An empty database is finished at once. `before` is called if tables that are there will be
    changed, while nobody else migrates; what it raises ends the migration. `release` None: this
    one. `locked_s`: how long to try to have all tables for a moment.

    Raises `SchemaOutdated` when the database is of a newer release or of another line, `Conflict`
    when it is to be finished and another release uses it, `PlatformError` when a migration fails,
    `Unavailable`. Then nothing was changed.
    """
    wanted = release or this_release()
    with _connected(url) as connection:
        connection.execute(_NO_LIMITS)
        connection.execute("SELECT pg_advisory_lock(%s)", (Lock.MIGRATION.value,))
        limit = f"{round(locked_s * 1000)}ms"
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (limit,))
        finish = finish or not ledger.applied(connection)
        missing = _missing(connection, wanted, finish)
        if not missing:
            return []
        if before is not None and _changes_tables(connection, wanted, finish):
            before()
        with connection.transaction():
            _lock_tables(connection, missing, locked_s)
            if ledger.keeps_names_alone(connection):
                ledger.adopt(connection, wanted.migrations)
            return list(_apply(connection, wanted, finish))


def check_schema(url: str, release: Release | None = None) -> None:
    """Raise `SchemaOutdated` unless this release (or the given one) works with the database: it has
    its functions and views, and nothing that its tables need is missing. Blocks."""
    wanted = release or this_release()
    with _connected(url) as connection:
        found = _age(connection, wanted.migrations)
        names_alone = ledger.keeps_names_alone(connection)
        has_code = code.exists(connection, wanted.code)
    if found is Age.OLDER or names_alone:
        raise older()
    if not has_code:
        raise newer() if found is Age.AHEAD else older()


def is_finished(url: str) -> bool:
    """Whether this release has nothing to take away that only the one before needs. Blocks."""
    wanted = this_release()
    with _connected(url) as connection:
        if _age(connection, wanted.migrations) is Age.AHEAD:
            return True  # what is left is the newer release's
        return not _missing(connection, wanted, finish=True)


def _missing(connection: psycopg.Connection, wanted: Release, finish: bool) -> str | None:
    """What will be done first; None: nothing is to be done. Raises `SchemaOutdated` for a database
    that a newer release, if it is finished or this one's functions are missing, or another line
    has made."""
    found = _age(connection, wanted.migrations)
    has_code = code.exists(connection, wanted.code)
    if found is Age.AHEAD:
        if finish or not has_code:
            raise newer()
        return None
    if ledger.keeps_names_alone(connection):
        with connection.transaction(force_rollback=True):
            ledger.adopt(connection, wanted.migrations)
    waiting = [each.name for each in _waiting(connection, wanted, finish)]
    waiting += [name for name in _queue_waiting(connection) if finish or not _ends_queue(name)]
    if waiting:
        return waiting[0]
    left = finish and (
        code.others(connection, wanted.code)
        or code.has_unversioned(connection)
        or not code.has_triggers(connection, wanted.code)
    )
    return None if has_code and not left else "functions"


def _changes_tables(connection: psycopg.Connection, wanted: Release, finish: bool) -> bool:
    """Whether there are any, and they will be changed."""
    if ledger.keeps_names_alone(connection):
        return True
    waiting = _waiting(connection, wanted, finish)
    return bool(ledger.applied(connection)) and bool(waiting or _queue_waiting(connection))


def _age(connection: psycopg.Connection, known: Sequence[Migration]) -> Age:
    """`CURRENT`, `AHEAD` or `OLDER`, by our tables and those of the background tasks. Raises
    `SchemaOutdated` for the others."""
    applied = ledger.applied(connection)
    found, queue = age(applied, known), _queue_applied(connection)
    if ledger.keeps_names_alone(connection):
        applied = ledger.renamed(applied)
        found = age(applied, known)
    if found is Age.OTHER_LINE:
        raise other_line(applied, known)
    unknown = queue - set(_queue_files())
    if found is Age.NEWER or not all("_pre_" in name for name in unknown):
        raise newer()
    if any(not _ends_queue(name) for name in _queue_waiting(connection)):
        return Age.OLDER
    return Age.AHEAD if found is Age.CURRENT and unknown else found


def _waiting(connection: psycopg.Connection, wanted: Release, finish: bool) -> list[Migration]:
    """The migrations that are to be applied, in order: the contracting ones only to finish."""
    applied = ledger.applied(connection)
    if ledger.keeps_names_alone(connection):
        applied = ledger.renamed(applied)
    names = {one.name for one in applied}
    missing = [each for each in wanted.migrations if each.name not in names]
    return [each for each in missing if finish or not each.contracts]


def _apply(connection: psycopg.Connection, wanted: Release, finish: bool) -> Iterator[str]:
    """All that is missing: first what adds to the tables, then functions and views, with which what
    contracts is applied. If a release was left out, something may have to be added that can't be
    before something else was taken away: then functions and views come last."""
    if not ledger.applied(connection):
        ledger.create(connection)
    waiting = _waiting(connection, wanted, finish)
    count = next((i for i, each in enumerate(waiting) if each.contracts), len(waiting))
    yield from _apply_ours(connection, waiting[:count])
    if all(each.contracts for each in waiting[count:]):
        yield from _apply_queue(connection, finish=False)
        yield from _create_code(connection, wanted.code)
    if finish:
        with _failing_as("functions"):
            yield from (f"-{name}" for name in code.drop_others(connection, wanted.code))
        yield from _apply_ours(connection, waiting[count:])
        yield from _apply_queue(connection, finish=True)
        yield from _create_code(connection, wanted.code)
    _rebuild_rankings(connection, wanted.code)


def _create_code(connection: psycopg.Connection, wanted: Code) -> list[str]:
    with _failing_as("functions"):
        return ["functions"] * code.create(connection, wanted)


def _rebuild_rankings(connection: psycopg.Connection, wanted: Code) -> None:
    """Compute the rankings of those boards again that a migration has listed in `stale_rankings`,
    because it changed which scores count there."""
    if not has_table(connection, "stale_rankings"):
        return
    with _failing_as("functions"):
        connection.execute(*code.using(wanted))
        connection.execute(
            "SELECT rebuild_board_standings(leaderboard_id) FROM stale_rankings"
            " ORDER BY leaderboard_id"
        )
        code.without_code(connection)
        connection.execute("DROP TABLE stale_rankings")


def _apply_ours(connection: psycopg.Connection, waiting: Sequence[Migration]) -> Iterator[str]:
    for migration in waiting:
        with _failing_as(migration.name):
            connection.execute(migration.text)
        ledger.note(connection, migration)
        yield migration.name


def _lock_tables(connection: psycopg.Connection, missing: str, locked_s: float) -> None:
    """Lock all our tables at once, before anything else is, so that nobody and we wait for each
    other. Raises `Unavailable` if one is in use for too long."""
    tables = [Identifier(str(row[0])) for row in connection.execute(_OURS)]
    if not tables:
        return
    lock = SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(SQL(", ").join(tables))
    end, tried = time.monotonic() + locked_s, 0
    while True:
        tried += 1
        longest_s = min(_TRY_S if tried % _LONG_EVERY else _LONG_TRY_S, locked_s)
        try:
            with connection.transaction():
                _set_timeout(connection, longest_s)
                connection.execute(lock)
        except _WAITED_TOO_LONG as error:
            if time.monotonic() + _PAUSE_S >= end:
                raise _in_use(missing) from error
            time.sleep(_PAUSE_S)
        else:
            _set_timeout(connection, 0)
            return


def _set_timeout(connection: psycopg.Connection, timeout_s: float) -> None:
    value = f"{round(timeout_s * 1000)}ms"
    connection.execute("SELECT set_config('statement_timeout', %s, true)", (value,))


def _in_use(name: str) -> Unavailable:
    return Unavailable(
        f"The migration {name} can't have a table that is in use.",
        hint="Nothing was changed. Stop what uses the database, and try again.",
    )


@contextlib.contextmanager
def _failing_as(name: str) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise _in_use(name) from error
    except psycopg.errors.DependentObjectsStillExist as error:
        raise Conflict(
            f"Something of your own depends on what is to be dropped: {_first_line(error)}",
            hint="Drop it, and make it again from tables alone. Nothing was changed.",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise PlatformError(
            f"The migration {name} isn't allowed: {_first_line(error)}",
            hint="Its role must own our tables, and may have to be allowed to make schemas: GRANT "
            "CREATE ON DATABASE. Nothing was changed.",
        ) from error
    except psycopg.Error as error:
        raise PlatformError(
            f"The migration {name} failed: {_first_line(error)}",
            hint="The database is as it was, and the release before still works with it. Please "
            "report this.",
        ) from error


def _first_line(error: psycopg.Error) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextlib.contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection]:
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_S)
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"The database can't be reached: {why_unreachable(error)}",
            hint="Check DATABASE_URL and that Postgres runs.",
        ) from error
    with connection:
        _check_encoding(connection)
        code.without_code(connection)
        yield connection


def _check_encoding(connection: psycopg.Connection) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise PlatformError(
            f"The database's encoding is {encoding}, in which not every program can be written.",
            hint="Nothing was changed. Make one with UTF8: CREATE DATABASE name ENCODING 'UTF8' "
            "TEMPLATE template0",
        )


def _queue_files() -> list[str]:
    folder = resources.files("procrastinate.sql") / "migrations"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))


def _queue_applied(connection: psycopg.Connection) -> set[str]:
    if not has_table(connection, "queue_migrations"):
        return set()
    return {str(row[0]) for row in connection.execute("SELECT name FROM queue_migrations")}


def _queue_waiting(connection: psycopg.Connection) -> list[str]:
    applied = _queue_applied(connection)
    return [name for name in _queue_files() if name not in applied]


def _ends_queue(name: str) -> bool:
    """Whether the release of procrastinate before doesn't work with the migration any more."""
    return "_post_" in name


def _apply_queue(connection: psycopg.Connection, *, finish: bool) -> Iterator[str]:
    """Procrastinate's schema: whole when there is none, else its own migrations in order."""
    connection.execute("CREATE TABLE IF NOT EXISTS queue_migrations (name text PRIMARY KEY)")
    folder = resources.files("procrastinate.sql") / "migrations"
    whole = not has_table(connection, "procrastinate_jobs")
    waiting = _queue_waiting(connection)
    if whole:
        connection.execute(SchemaManager.get_schema())
    for name in waiting:
        if _ends_queue(name) and not (finish or whole):
            continue
        if not whole:
            with _failing_as(name):
                connection.execute((folder / name).read_text())
        connection.execute("INSERT INTO queue_migrations VALUES (%s)", (name,))
        yield name
