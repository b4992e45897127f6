"""A database of the release before, with data in it, comes through a migration with all of it; and
so do those that were made between two releases.

`previous/` holds what `pg_dump --inserts` wrote of it: two ranked submissions, one that waits, one
that is being judged by a worker that is gone. Until there is a release after 0.1.0, it is that one.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.domain.errors import SchemaOutdated
from kernelbot.protocol import Limits, SamplingRules, SandboxMode
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.server.wiring import Core, open_services
from kernelbot.store.history import known_migrations
from kernelbot.store.migrate import check_schema, migrate
from tests.support.postgres import TestServer, objects
from tests.support.world import DEVICES

pytestmark = pytest.mark.each_run(
    "test_every_object_is_as_in_a_new_database",
    "test_the_ranking_is_as_it_was",
    "test_another_line_is_refused_and_unharmed",
)

_PREVIOUS = Path(__file__).parent / "previous" / "0.1.0.sql"


# Of ada's: a browser that was logged in in that release, and tokens that look like one.
_TOKENS = """
INSERT INTO public.tokens (user_id, name, hash, expires_at)
SELECT 2, name, sha256((name || days)::bytea), now() + days * interval '1 day'
FROM (VALUES ('web login', 30), ('web login', 90), ('ci', 30)) AS given (name, days)
"""


@pytest.fixture
def migrated_url(postgres: TestServer) -> Iterator[str]:
    """The database after `kernelbot db migrate`."""
    with postgres.database(migrated=False) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_PREVIOUS.read_text())
            connection.execute(_TOKENS)
        migrate(url)
        yield url


@pytest.fixture
async def core(migrated_url: str) -> AsyncIterator[Core]:
    async with open_services(migrated_url, DEVICES) as opened:
        yield opened


def test_the_schema_is_current(migrated_url: str) -> None:
    check_schema(migrated_url)


def test_every_object_is_as_in_a_new_database(migrated_url: str, database_url: str) -> None:
    """Once it is finished: until then the release before finds its functions and views."""
    migrate(migrated_url, finish=True)
    assert objects(database_url) == objects(migrated_url)


def test_its_functions_and_views_are_there_until_it_is_finished(migrated_url: str) -> None:
    def found() -> tuple[object, ...] | None:
        with psycopg.connect(migrated_url) as connection:
            return connection.execute(
                "SELECT to_regclass('public.shown_runs') IS NOT NULL,"
                " to_regproc('public.next_run') IS NOT NULL,"
                " to_regclass('public.schema_functions') IS NOT NULL"
            ).fetchone()

    before = found()
    migrate(migrated_url, finish=True)
    assert ((True, True, True), (False, False, False)) == (before, found())


async def test_the_ranking_is_as_it_was(core: Core) -> None:
    page = await core.services.standings.page(None, "both", "CPU")
    assert [("bob", 0.25), ("ada", 0.5)] == [(row.author, row.score_s) for row in page.standings]


async def test_browsers_stay_logged_in_and_tokens_valid(core: Core) -> None:
    users = core.services.users
    ada = await users.authenticate("web login30", TokenKind.SESSION)
    found = [await users.authenticate(text) for text in ("web login90", "ci30")]
    kinds = [one.kind for one in await core.services.tokens.list_tokens(ada)]
    assert (["ada"] * 3, ["session", "token", "token", "token"]) == (
        [one.name for one in (ada, *found)],
        sorted(kinds),
    )


async def test_what_waited_still_waits(core: Core) -> None:
    waits = DeviceQueuePosition(1, None, "no worker serves it just now", device="H100")
    assert waits == await core.services.submissions.queue_position(3)


async def test_what_waited_and_what_a_dead_worker_left_are_judged(core: Core) -> None:
    rules = RunRules(Limits(), SamplingRules(), SandboxMode.NONE, 0.0)
    judging = RunLifecycle(core.database, DEVICES, rules)
    async with core.database.read() as session:
        rows = await session.all(
            "SELECT id, submission_id FROM runs WHERE state <> 'finished' ORDER BY id"
        )
    claims = [await judging.claim(device, "new-worker") for device in ("CPU", "H100")]
    assert {row["submission_id"] for row in rows} == {one.submission_id for one in claims if one}


def _as_yoyo_noted(url: str, count: int, *changes: LiteralString) -> None:
    """Make the tables of the first `count` migrations, noted by names alone, and then change them
    into what an earlier text of a migration made."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE _yoyo_migration (migration_hash varchar(64) PRIMARY KEY,"
            " migration_id varchar(255), applied_at_utc timestamp);"
            "CREATE TABLE _yoyo_version (version int PRIMARY KEY, installed_at_utc timestamp);"
            "CREATE TABLE yoyo_lock (locked int PRIMARY KEY)"
        )
        for migration in known_migrations()[:count]:
            connection.execute(migration.text)
            connection.execute(
                "INSERT INTO _yoyo_migration VALUES (%(name)s, %(name)s)", {"name": migration.name}
            )
        for change in changes:
            connection.execute(change)


_SET_NAME: LiteralString = "UPDATE _yoyo_migration SET migration_id = "


@pytest.mark.parametrize(
    ("count", "changes"),
    [
        (1, ["DROP TABLE decisions"]),
        (4, ["DROP TABLE watches, deliveries, announcements, chat_answers"]),
        (
            5,
            [
                "DROP TABLE watches",
                "ALTER TABLE guilds DROP COLUMN weekly_at",
                "ALTER TABLE announcements DROP COLUMN user_id, ADD UNIQUE (run_id)",
                "DROP INDEX announcements_run",
            ],
        ),
        (7, [_SET_NAME + "'0008.sent_forms' WHERE migration_id ~ '0007'"]),
        (10, ["ALTER TABLE duels DROP COLUMN refused"]),
        (10, ["DELETE FROM _yoyo_migration WHERE migration_id ~ '0010'"]),
        (1, ["DELETE FROM _yoyo_migration"]),
        (10, ["CREATE TABLE an_operators_own (id int)", "CREATE INDEX own ON users (created_at)"]),
    ],
    ids=[
        "before decisions",
        "before answers",
        "before watches",
        "under its first name",
        "before refused",
        "killed before it was noted",
        "killed before the first was noted",
        "with an operator's own",
    ],
)
def test_what_was_made_between_releases_is_completed(
    empty_database_url: str, database_url: str, count: int, changes: list[LiteralString]
) -> None:
    _as_yoyo_noted(empty_database_url, count, *changes)
    migrate(empty_database_url)
    check_schema(empty_database_url)
    missing = objects(database_url) - objects(empty_database_url)
    assert set() == missing


def test_a_migration_of_rows_is_applied(empty_database_url: str) -> None:
    """No table tells whether it was, so the name that isn't noted decides."""
    _as_yoyo_noted(empty_database_url, 10)
    assert "0011.untimed_runs" in migrate(empty_database_url)


@pytest.mark.parametrize(
    "change",
    [
        _SET_NAME + "'0007.another' WHERE migration_id ~ '0007'",
        "ALTER TABLE users ADD COLUMN of_a_fork text",
        "ALTER TABLE users ALTER COLUMN name DROP NOT NULL",
        "DROP TABLE webhooks CASCADE",
        "ALTER TYPE run_state ADD VALUE 'of_a_fork'",
        "ALTER TABLE duels DROP CONSTRAINT ratio_is_in_its_interval",
    ],
)
def test_another_line_is_refused_and_unharmed(
    empty_database_url: str, change: LiteralString
) -> None:
    _as_yoyo_noted(empty_database_url, 9 if "duels" not in change else 10, change)
    before = objects(empty_database_url)
    called: list[str] = []
    with pytest.raises(SchemaOutdated, match="another line"):
        migrate(empty_database_url, before=lambda: called.append("kept"))
    assert ([], before) == (called, objects(empty_database_url))
