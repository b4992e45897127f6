import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from kernelbot.domain.errors import PlatformError, SchemaOutdated, Unavailable
from kernelbot.domain.states import RUN_TRANSITIONS
from kernelbot.store import history, schema
from kernelbot.store.history import Migration, known_migrations
from kernelbot.store.migrate import Release, check_schema, migrate
from kernelbot.store.schema import Code, this_code
from tests.support.postgres import WAITS_FOR_A_LOCK, TestServer, objects, wait_until_there_is

_NOTES_ITS_LIMIT: LiteralString = (
    "CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS noted"
)


def _with(*more: Migration) -> Release:
    """A release with more migrations, and this one's functions."""
    return Release([*known_migrations(), *more], this_code())


def test_an_empty_database_is_outdated(empty_database_url: str) -> None:
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(empty_database_url)


def test_migrating_makes_the_schema_current(empty_database_url: str) -> None:
    migrate(empty_database_url)
    check_schema(empty_database_url)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(
    postgres: TestServer, encoding: LiteralString
) -> None:
    with postgres.database_in(encoding) as url:
        with pytest.raises(PlatformError, match=f"encoding is {encoding}") as refused:
            migrate(url)
        with psycopg.connect(url) as connection:
            assert (
                []
                == connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                ).fetchall()
            )
    assert "ENCODING 'UTF8'" in refused.value.hint


def test_migrating_again_does_nothing(database_url: str) -> None:
    assert migrate(database_url) == []


def test_a_migration_has_no_limit_whatever_the_database_is_set_to(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET statement_timeout = '1h'").format(name))
    migrate(database_url, release=_with(Migration("9999.limit", _NOTES_ITS_LIMIT)))
    with psycopg.connect(database_url) as connection:
        assert ("0",) == connection.execute("SELECT noted FROM limits").fetchone()


def test_a_migration_does_not_wait_for_a_table_for_ever(database_url: str) -> None:
    """Whoever asks for the table after it would wait as well."""
    wanted = _with(Migration("9999.locks", "ALTER TABLE users ADD more int"))
    with psycopg.connect(database_url) as other:
        other.execute("SELECT count(*) FROM users")
        with pytest.raises(Unavailable, match=r"9999\.locks can't have a table"):
            migrate(database_url, release=wanted, locked_s=0.05)
    assert ["9999.locks"] == migrate(database_url, release=wanted)


def test_everything_in_sql_is_defined_once() -> None:
    created = re.compile(r"CREATE\s+(?:OR REPLACE )?(?:FUNCTION|AGGREGATE|VIEW|TABLE|TYPE)\s+(\w+)")
    texts = [migration.text for migration in known_migrations()]
    names = created.findall("\n".join([*texts, schema.functions()]))
    assert sorted(set(names)) == sorted(names)


NEXT = Migration("9999.next", "CREATE TABLE of_the_next_release (id int)")


def test_a_newer_schema_is_refused(database_url: str) -> None:
    taken = Migration("9999.next.after", "DROP TABLE announcements CASCADE")
    migrate(database_url, release=_with(taken), finish=True)
    with pytest.raises(SchemaOutdated, match="newer"):
        check_schema(database_url)
    with pytest.raises(SchemaOutdated, match="newer"):
        migrate(database_url)


def test_background_tasks_of_a_newer_release_are_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO queue_migrations VALUES ('99.00.00_01_new.sql')")
    with pytest.raises(SchemaOutdated, match="newer"):
        migrate(database_url)


def test_the_same_name_with_another_content_is_another_line(database_url: str) -> None:
    *others, last = known_migrations()
    changed = Migration(last.name, "CREATE TABLE of_a_fork (id int)")
    for known in ([*others, changed], [*others, changed, NEXT]):
        with pytest.raises(SchemaOutdated, match=f"another line.*{last.name}"):
            migrate(database_url, release=Release(known, this_code()))


# Each run has test_a_migration_has_no_limit_whatever_the_database_is_set_to
@pytest.mark.exhaustive
def test_a_failure_at_any_migration_leaves_the_database_as_it_was(empty_database_url: str) -> None:
    known = known_migrations()
    for failing in range(len(known)):
        half = Migration(known[failing].name, f"{known[failing].text}; SELECT 1 / 0")
        wanted = Release([*known[:failing], half, *known[failing + 1 :]], this_code())
        with pytest.raises(PlatformError, match=f"{half.name} failed: division by zero"):
            migrate(empty_database_url, release=wanted)
        assert set() == objects(empty_database_url)
        with pytest.raises(SchemaOutdated, match="older"):
            check_schema(empty_database_url)


def test_a_failure_after_the_tables_leaves_the_database_as_it_was(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(f"CREATE SCHEMA {this_code().schema}")  # somebody else's
    before = objects(empty_database_url)
    with pytest.raises(PlatformError, match="functions failed"):
        migrate(empty_database_url)
    assert before == objects(empty_database_url)


# Each run has test_a_migration_has_no_limit_whatever_the_database_is_set_to
@pytest.mark.exhaustive
def test_what_is_done_before_is_done_only_if_tables_will_change(empty_database_url: str) -> None:
    called: list[str] = []
    migrate(empty_database_url, before=lambda: called.append("empty"))
    migrate(empty_database_url, before=lambda: called.append("current"))
    other = Release(known_migrations(), Code(this_code().text + "\nSELECT 1;"))
    migrate(empty_database_url, before=lambda: called.append("functions"), release=other)
    migrate(empty_database_url, before=lambda: called.append("older"), release=_with(NEXT))
    assert ["older"] == called


def test_what_fails_before_leaves_the_database_as_it_was(database_url: str) -> None:
    before = objects(database_url)
    with pytest.raises(ZeroDivisionError):
        migrate(database_url, before=lambda: 1 / 0, release=_with(NEXT))
    assert before == objects(database_url)


FROZEN = Path(__file__).parent / "migrations.txt"


def test_a_migration_stays_as_it_is() -> None:
    """Somebody's data may have it: a change is the next migration. A new one is added to the list
    as it is shown here."""
    listed = "".join(f"{each.name} {each.sha256}\n" for each in known_migrations())
    assert FROZEN.read_text() == listed


def test_a_comment_of_a_migration_may_change() -> None:
    worded = Migration("0001.x", "-- A table.\nCREATE TABLE x (\n    id int\n);\n")
    other = Migration("0001.x", "CREATE TABLE x (\n  -- Its key.\n  id int\n);")
    assert worded.sha256 == other.sha256


def test_every_file_of_the_migrations_is_one() -> None:
    folder = Path(history.__file__).parent / "migrations"
    files = {file.name for file in folder.iterdir() if file.is_file()}
    assert {f"{each.name}.sql" for each in known_migrations()} == files


def test_no_two_migrations_have_the_same_number() -> None:
    numbers = [each.name.split(".")[0] for each in known_migrations()]
    assert sorted(set(numbers)) == numbers


def test_a_migration_that_was_killed_has_changed_nothing(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as blocking:
        blocking.execute("CREATE TYPE review_state AS ENUM ('in the way')")
        code = "import sys; from kernelbot.store.migrate import migrate; migrate(sys.argv[1])"
        migrating = subprocess.Popen([sys.executable, "-c", code, empty_database_url])
        wait_until_there_is(empty_database_url, WAITS_FOR_A_LOCK)
        os.kill(migrating.pid, signal.SIGKILL)
        migrating.wait()
        blocking.rollback()
    assert {each.name for each in known_migrations()} <= set(migrate(empty_database_url))
    check_schema(empty_database_url)


def test_two_that_migrate_at_once_both_succeed(empty_database_url: str) -> None:
    both = [threading.Thread(target=migrate, args=(empty_database_url,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    check_schema(empty_database_url)
    assert migrate(empty_database_url) == []


def test_an_unreachable_database_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        check_schema("postgresql://nobody@/none?host=%2Fnowhere")


def test_transitions_in_sql_are_those_of_the_domain(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT before::text, after::text FROM run_transitions")
        stored = set(rows.fetchall())
    written = {(before, after) for before, afters in RUN_TRANSITIONS.items() for after in afters}
    assert stored == written


def test_every_foreign_key_has_an_index(database_url: str) -> None:
    """But those to tables whose rows are never deleted, and that aren't read through."""
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c"
            " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
            " WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace"
            " AND c.conrelid::regclass::text NOT LIKE 'procrastinate%'"
            " AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid"
            " AND i.indkey[0] = c.conkey[1] AND (i.indpred IS NULL"
            " OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))"
        ).fetchall()
    assert set(rows) == {
        ("leaderboards", "creator_id"),
        ("submissions", "problem_version_id"),
        ("rejudges", "problem_version_id"),
    }
