"""A test's pool has a session that another one had, and finds nothing of that."""

import psycopg

from kernelbot.store.database import Database
from tests.support.kept_sessions import sessions_kept
from tests.support.postgres import TestServer
from tests.support.test_reused import name_of

LEFT = (
    "SET statement_timeout = '1h'",
    "LISTEN something",
    "CREATE TEMP TABLE users (name text)",
    "PREPARE mine AS SELECT 1",
    "SELECT pg_advisory_lock(7)",
)
FOUND = """
SELECT pg_backend_pid() AS pid, current_setting('statement_timeout') AS limit,
    ARRAY(SELECT pg_listening_channels()) AS heard, to_regclass('pg_temp.users') AS temporary,
    (SELECT count(*) FROM pg_prepared_statements) AS prepared,
    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks
"""


def pool(url: str) -> Database:
    with sessions_kept():
        return Database(url, max_size=1)


async def test_the_next_one_has_the_session_and_nothing_of_what_was_left(database_url: str) -> None:
    seen = []
    for _ in range(2):
        async with pool(database_url) as database, database.autocommit() as session:
            before = await session.one(FOUND)
            for statement in LEFT:
                await session.do(statement)
            seen.append((before, await session.one(FOUND)))
    (before, changed), again = seen
    assert (before, changed) == again
    assert before is not None
    assert changed is not None
    assert ["pid"] == [name for name in before if before[name] == changed[name]]


async def test_one_that_was_ended_meanwhile_is_not_used(database_url: str) -> None:
    numbers = []
    for _ in range(2):
        async with pool(database_url) as database, database.read() as session:
            row = await session.one("SELECT pg_backend_pid() AS pid")
            assert row is not None
            numbers.append(row["pid"])
        with psycopg.connect(database_url) as other:
            other.execute("SELECT pg_terminate_backend(%s, 60000)", (row["pid"],))
    assert numbers[0] != numbers[1]


async def test_what_it_changed_for_good_is_noticed(postgres: TestServer) -> None:
    with postgres.database() as url:
        name = name_of(url)
        async with pool(url) as database, database.autocommit() as session:
            await session.do("CREATE TABLE another ()")
    with postgres.database() as another:
        assert name != name_of(another)
