"""A database of the release before, with data in it, comes through a migration with all of it.

`previous/` holds what `pg_dump --inserts` wrote of it: two ranked submissions, one that waits, one
that is being judged by a worker that is gone. Until there is a release after 0.1.0, it is that one.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from kernelbot.domain.types import QueuePlace
from kernelbot.main.wiring import Core, open_services
from kernelbot.protocol import Limits, SamplingRules, SandboxMode
from kernelbot.services.run_lifecycle import RunLifecycle, RunRules
from kernelbot.store.migrate import check_schema, migrate
from tests.support.postgres import TestServer
from tests.support.world import DEVICES

_PREVIOUS = Path(__file__).parent / "previous" / "0.1.0.sql"


@pytest.fixture
def migrated_url(postgres: TestServer) -> Iterator[str]:
    """The database after `kernelbot db migrate`."""
    with postgres.database(migrated=False) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_PREVIOUS.read_text())
        migrate(url)
        yield url


@pytest.fixture
async def core(migrated_url: str) -> AsyncIterator[Core]:
    async with open_services(migrated_url, DEVICES) as opened:
        yield opened


_OBJECTS = """
SELECT 'column', concat_ws(' ', table_name, column_name), concat_ws(' ', data_type, column_default)
FROM information_schema.columns WHERE table_schema = 'public'
UNION SELECT 'function', oid::regprocedure::text, prosrc
FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION SELECT 'view', viewname, definition FROM pg_views WHERE schemaname = 'public'
UNION SELECT 'type', t.typname, string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.typname
UNION SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION SELECT 'constraint', concat_ws(' ', conrelid::regclass, conname), pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""


def _objects(url: str) -> set[tuple[str, ...]]:
    """Everything of ours in the schema, with the text that defines it."""
    with psycopg.connect(url) as connection:
        return set(connection.execute(_OBJECTS).fetchall())


def test_the_schema_is_current(migrated_url: str) -> None:
    check_schema(migrated_url)


def test_every_object_is_as_in_a_new_database(migrated_url: str, database_url: str) -> None:
    assert _objects(database_url) == _objects(migrated_url)


async def test_the_ranking_is_as_it_was(core: Core) -> None:
    page = await core.services.standings.page(None, "both", "CPU")
    assert [("bob", 0.25), ("ada", 0.5)] == [(row.author, row.score_s) for row in page.rows]


async def test_what_waited_still_waits(core: Core) -> None:
    waits = QueuePlace("H100", 1, None, "no worker serves it just now")
    assert waits == await core.services.submissions.queue_place(3)


async def test_what_waited_and_what_a_dead_worker_left_are_judged(core: Core) -> None:
    rules = RunRules(Limits(), SamplingRules(), SandboxMode.NONE, 0.0)
    judging = RunLifecycle(core.database, DEVICES, rules)
    async with core.database.read() as session:
        rows = await session.all(
            "SELECT id, submission_id FROM runs WHERE state <> 'finished' ORDER BY id"
        )
    claims = [await judging.claim(device, "new-worker") for device in ("CPU", "H100")]
    assert {row["submission_id"] for row in rows} == {one.submission_id for one in claims if one}
