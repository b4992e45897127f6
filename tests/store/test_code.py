"""Two releases on one database: each calls functions of its own, and both write to the same tables.

The newer one has another function, another trigger, a migration that adds and one that contracts.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from kernelbot.domain.errors import Conflict, PlatformError, SchemaOutdated
from kernelbot.store import code
from kernelbot.store.database import Database
from kernelbot.store.history import Migration, known_migrations
from kernelbot.store.migrate import Release, check_schema, is_finished, migrate, this_release
from kernelbot.store.schema import Code, this_code
from kernelbot.store.timeouts import DatabaseTimeouts
from tests.support.postgres import (
    WAITS_FOR_A_LOCK,
    TestServer,
    objects,
    wait_until_there_is,
)

pytestmark = pytest.mark.each_run(
    "test_each_release_calls_its_own_functions",
    "test_only_finishing_contracts_and_drops_what_the_release_before_had",
    "test_nothing_is_finished_while_a_server_of_the_release_before_is_connected",
    "test_without_its_functions_a_database_is_older",
    "test_an_operators_own_view_of_tables_stays",
)

ADDS = Migration("9998.nicknames", "ALTER TABLE users ADD nickname text")
TAKES = Migration("9999.no_chat.after", "DROP TABLE chat_answers")
_NEWER = Code(
    this_code()
    .text.replace("sqrt(1 + 4 * ln(", "sqrt(2 + 4 * ln(")
    .replace("a row of % never changes", "no row of % ever changes")
)
NEWER = Release([*known_migrations(), ADDS, TAKES], _NEWER)
_STRICTNESS = "SELECT round(strictness(1)::numeric, 2)::text"


@pytest.fixture
def url(postgres: TestServer) -> Iterator[str]:
    """A database of this release, whose settings don't help anybody to find anything."""
    with postgres.database(migrated=False) as url:
        migrate(url)
        yield url


@contextmanager
def session_of(url: str, release: Release) -> Iterator[psycopg.Connection]:
    """As a server of the release has."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(*code.using(release.code))
        yield connection


def strictness(connection: psycopg.Connection) -> object:
    row = connection.execute(_STRICTNESS).fetchone()
    return row and row[0]


def test_each_release_calls_its_own_functions(url: str) -> None:
    migrate(url, release=NEWER)
    with session_of(url, this_release()) as old, session_of(url, NEWER) as new:
        assert ("1.00", "1.41") == (strictness(old), strictness(new))


def test_a_session_that_was_there_before_goes_on(url: str) -> None:
    with session_of(url, this_release()) as old:
        before = strictness(old)
        migrate(url, release=NEWER)
        check_schema(url)
        assert ("1.00", "1.00") == (before, strictness(old))


def test_triggers_are_of_the_newest_release_in_every_session(url: str) -> None:
    migrate(url, release=NEWER)
    with session_of(url, this_release()) as old:
        old.execute("INSERT INTO problems (name) VALUES ('sort')")
        found = old.execute(
            "SELECT DISTINCT p.pronamespace::regnamespace::text, p.proconfig::text"
            " FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal"
            " AND t.tgrelid::regclass::text !~ 'procrastinate'"
        ).fetchall()
    path = f'{{"search_path={_NEWER.schema}, public, pg_temp"}}'
    assert [(_NEWER.schema, path)] == found


def test_the_release_before_can_start_and_migrate_again_until_it_is_finished(url: str) -> None:
    migrate(url, release=NEWER)
    before = objects(url)
    assert ([], True) == (migrate(url), is_finished(url))
    check_schema(url)
    assert before == objects(url)
    migrate(url, release=NEWER, finish=True)
    for refused in (check_schema, migrate):
        with pytest.raises(SchemaOutdated, match="newer release than this one"):
            refused(url)


def test_only_finishing_contracts_and_drops_what_the_release_before_had(url: str) -> None:
    done = migrate(url, release=NEWER)
    finished = migrate(url, release=NEWER, finish=True)
    assert ([ADDS.name, "functions"], [f"-{this_code().schema}", TAKES.name]) == (done, finished)
    assert [] == migrate(url, release=NEWER, finish=True)


def test_the_order_of_additions_and_contractions_makes_no_difference(
    url: str, empty_database_url: str
) -> None:
    migrate(url, release=NEWER)
    migrate(url, release=NEWER, finish=True)
    migrate(empty_database_url, release=NEWER)
    assert objects(empty_database_url) == objects(url)


def test_a_release_that_was_left_out_is_finished_too(url: str) -> None:
    """Here the addition after the contraction needs it."""
    again = Migration("99991.chat", "CREATE TABLE chat_answers (id bigint PRIMARY KEY)")
    wanted = Release([*known_migrations(), TAKES, again], _NEWER)
    with pytest.raises(PlatformError, match=f"{again.name} failed.*already exists"):
        migrate(url, release=wanted)
    assert [f"-{this_code().schema}", TAKES.name, again.name, "functions"] == migrate(
        url, release=wanted, finish=True
    )
    check_schema(url, wanted)


async def test_nothing_is_finished_while_a_server_of_the_release_before_is_connected(
    url: str,
) -> None:
    migrate(url, release=NEWER)
    before = objects(url)
    async with Database(url, limits=DatabaseTimeouts()) as database:
        async with database.read() as session:
            row = await session.one(_STRICTNESS)
        with pytest.raises(Conflict, match=r"Another release still works.*, over \d"):
            migrate(url, release=NEWER, finish=True)
    assert ({"round": "1.00"}, before) == (row, objects(url))
    assert migrate(url, release=NEWER, finish=True)


def test_who_holds_a_table_and_wants_another_is_not_ended_by_a_migration(url: str) -> None:
    """Whom Postgres finds in a deadlock first is ended: the migration would have waited longer."""
    migrating = threading.Thread(target=migrate, args=(url,), kwargs={"release": NEWER})
    with session_of(url, this_release()) as old, old.transaction():
        old.execute("LOCK TABLE users IN ROW EXCLUSIVE MODE")
        migrating.start()
        wait_until_there_is(url, WAITS_FOR_A_LOCK)
        time.sleep(1.2)  # more than `deadlock_timeout`
        old.execute("LOCK TABLE standings IN ROW EXCLUSIVE MODE")
    migrating.join()
    check_schema(url, NEWER)


def test_going_back_for_good_gives_the_triggers_back(url: str) -> None:
    """Where functions alone had changed."""
    only_code = Release(known_migrations(), _NEWER)
    before = objects(url)
    migrate(url, release=only_code)
    migrate(url, finish=True)
    assert before == objects(url)
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(url, only_code)


def test_without_its_functions_a_database_is_older(url: str) -> None:
    with pytest.raises(SchemaOutdated, match="older"):
        check_schema(url, Release(known_migrations(), _NEWER))


def test_an_operators_own_view_of_tables_stays(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE VIEW mine AS SELECT count(*) AS people FROM users")
    migrate(url, release=NEWER)
    migrate(url, release=NEWER, finish=True)
    with psycopg.connect(url) as connection:
        assert (0,) == connection.execute("SELECT people FROM mine").fetchone()


def test_an_operators_own_view_of_ours_is_named_and_stays(url: str) -> None:
    with session_of(url, this_release()) as connection:
        connection.execute("CREATE VIEW public.mine AS SELECT count(*) FROM shown_boards")
    migrate(url, release=NEWER)
    before = objects(url)
    with pytest.raises(Conflict, match=r"Something of your own depends.*shown_boards"):
        migrate(url, release=NEWER, finish=True)
    assert before == objects(url)


def test_comments_and_white_space_make_no_other_release() -> None:
    text = this_code().text
    worded = text.replace("-- When a token ends", "-- It's when a token ends").replace("    ", "\t")
    assert this_code().schema == Code(worded).schema
    assert (
        this_code().schema != Code(text.replace("'kernelbot_turns'", "'kernelbot  turns'")).schema
    )


def test_white_space_in_a_text_makes_another_release() -> None:
    assert Code("SELECT 'a b'").schema != Code("SELECT 'a  b'").schema


def test_a_temporary_object_is_not_found_first(url: str) -> None:
    with session_of(url, this_release()) as connection:
        connection.execute("CREATE TEMP TABLE users (id int)")
        row = connection.execute("SELECT 'users'::regclass = 'public.users'::regclass").fetchone()
    assert (True,) == row
