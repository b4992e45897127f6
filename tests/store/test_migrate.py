import psycopg
import pytest

from kernelbot.domain.errors import SchemaOutdated, Unavailable
from kernelbot.domain.states import RUN_TRANSITIONS
from kernelbot.store.migrate import check_schema, migrate, roll_back


def _objects(url: str) -> list[tuple[str, ...]]:
    """Everything of ours in the schema: columns, functions, types, indices."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT 'column', table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public'"
            " UNION ALL SELECT 'function', proname, '', '' FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace"
            " UNION ALL SELECT 'type', typname, '', '' FROM pg_type"
            " WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'"
            " UNION ALL SELECT 'index', indexname, indexdef, '' FROM pg_indexes"
            " WHERE schemaname = 'public' ORDER BY 1, 2, 3, 4"
        ).fetchall()


def test_an_empty_database_is_outdated(empty_database_url: str) -> None:
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(empty_database_url)


def test_migrating_makes_the_schema_current(empty_database_url: str) -> None:
    migrate(empty_database_url)
    check_schema(empty_database_url)


def test_migrating_again_does_nothing(database_url: str) -> None:
    assert migrate(database_url) == []


def test_rolling_back_and_forth_gives_the_same_schema(database_url: str) -> None:
    before = _objects(database_url)
    roll_back(database_url)
    migrate(database_url)
    assert _objects(database_url) == before


def test_rolling_back_leaves_nothing_of_ours(database_url: str) -> None:
    roll_back(database_url)
    left = {
        name
        for kind, name, *_ in _objects(database_url)
        if not name.startswith(("procrastinate", "idx_procrastinate", "_yoyo", "yoyo"))
        and name not in ("queue_migrations", "queue_migrations_pkey")
    }
    assert left == set()


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
    migrate(empty_database_url)
    roll_back(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("INSERT INTO yoyo_lock (locked, ctime, pid) VALUES (1, now(), 1)")
    migrate(empty_database_url)
    check_schema(empty_database_url)


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
            " AND i.indkey[0] = c.conkey[1] AND i.indpred IS NULL)"
        ).fetchall()
    assert set(rows) == {
        ("leaderboards", "creator_id"),
        ("submissions", "problem_version_id"),
        ("rejudges", "problem_version_id"),
    }
