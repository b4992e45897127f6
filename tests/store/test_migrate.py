import os
import re
import signal
import subprocess
import sys
import threading

import psycopg
import pytest

from kernelbot.domain.errors import SchemaOutdated, Unavailable
from kernelbot.domain.states import RUN_TRANSITIONS
from kernelbot.store import schema
from kernelbot.store.migrate import check_schema, migrate
from tests.support.postgres import WAITS_FOR_A_LOCK, wait_until_there_is


def test_an_empty_database_is_outdated(empty_database_url: str) -> None:
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(empty_database_url)


def test_migrating_makes_the_schema_current(empty_database_url: str) -> None:
    migrate(empty_database_url)
    check_schema(empty_database_url)


def test_migrating_again_does_nothing(database_url: str) -> None:
    assert migrate(database_url) == []


def test_a_function_of_another_release_is_replaced(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP FUNCTION is_member")
        connection.execute("CREATE FUNCTION is_member() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        connection.execute("UPDATE schema_functions SET sha256 = 'other'")
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(database_url)
    assert migrate(database_url) == ["functions"]
    check_schema(database_url)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT is_member(1, 1)").fetchone() == (False,)


def test_an_operators_own_view_stays(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("CREATE VIEW mine AS SELECT count(*) AS people FROM users")
        connection.execute("UPDATE schema_functions SET sha256 = 'other'")
    migrate(database_url)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT people FROM mine").fetchone() == (0,)


def test_everything_in_sql_is_defined_once() -> None:
    created = re.compile(r"CREATE\s+(?:OR REPLACE )?(?:FUNCTION|AGGREGATE|VIEW|TABLE|TYPE)\s+(\w+)")
    names = created.findall(schema.tables() + schema.functions())
    assert sorted(set(names)) == sorted(names)


def test_a_newer_schema_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO _yoyo_migration (migration_hash, migration_id) VALUES ('x', '9999.new')"
        )
    with pytest.raises(SchemaOutdated, match="newer"):
        check_schema(database_url)
    with pytest.raises(SchemaOutdated, match="newer"):
        migrate(database_url)


def test_a_migration_that_was_killed_is_no_obstacle(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as blocking:
        blocking.execute("CREATE TYPE review_state AS ENUM ('in the way')")
        code = "import sys; from kernelbot.store.migrate import migrate; migrate(sys.argv[1])"
        migrating = subprocess.Popen([sys.executable, "-c", code, empty_database_url])
        wait_until_there_is(empty_database_url, WAITS_FOR_A_LOCK)
        os.kill(migrating.pid, signal.SIGKILL)
        migrating.wait()
        blocking.rollback()
    migrate(empty_database_url)
    check_schema(empty_database_url)


def test_a_lock_that_a_dead_migration_left_is_no_obstacle(empty_database_url: str) -> None:
    migrate(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("INSERT INTO yoyo_lock (locked, ctime, pid) VALUES (1, now(), 1)")
        connection.execute("UPDATE schema_functions SET sha256 = 'other'")
    migrate(empty_database_url)
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
