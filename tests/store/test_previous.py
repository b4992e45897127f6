"""A database of the release before, with data in it, comes through a migration with all of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from yoyo import get_backend, read_migrations

from kernelbot.domain.types import QueuePlace
from kernelbot.main.wiring import Core, open_services
from kernelbot.protocol import Limits, SamplingRules, SandboxMode
from kernelbot.services.judging import Judging, JudgingRules
from kernelbot.store import migrate as migrating
from kernelbot.store.queue import Queue
from tests.support.postgres import TestServer
from tests.support.world import DEVICES

_PREVIOUS = ("0001.schema", "0002.standings")
_DATA = Path(__file__).parent / "previous" / "0002.sql"


@pytest.fixture
def migrated_url(postgres: TestServer) -> Iterator[str]:
    """The database after `kernelbot db migrate`."""
    with postgres.database(migrated=False) as url:
        folder = Path(migrating.__file__).parent / "migrations"
        backend = get_backend(url.replace("postgresql:", "postgresql+psycopg:", 1))
        with closing(backend.connection):
            backend.apply_migrations(
                read_migrations(str(folder)).filter(lambda one: one.id in _PREVIOUS)
            )
        with psycopg.connect(url, autocommit=True) as connection:
            # The queue's tables are the library's; the sweep brings jobs back.
            connection.execute(_DATA.read_text())
        migrating.migrate(url)
        yield url


@pytest.fixture
async def core(migrated_url: str) -> AsyncIterator[Core]:
    async with open_services(migrated_url, DEVICES) as opened:
        yield opened


def test_the_schema_is_current(migrated_url: str) -> None:
    migrating.check_schema(migrated_url)


async def test_the_ranking_is_as_it_was(core: Core) -> None:
    page = await core.services.standings.page(None, "both", "CPU")
    assert [("bob", 0.25), ("ada", 0.5)] == [(row.author, row.score_s) for row in page.rows]


async def test_what_waited_still_waits(core: Core) -> None:
    assert QueuePlace("H100", 1, None) == await core.services.submissions.queue_place(3)


async def test_what_waited_and_what_a_dead_worker_left_are_judged(core: Core) -> None:
    rules = JudgingRules(Limits(), SamplingRules(), SandboxMode.NONE, 0.0)
    judging = Judging(core.database, Queue(), DEVICES, rules)
    async with core.database.read() as session:
        rows = await session.all(
            "SELECT id, submission_id FROM runs WHERE state <> 'finished' ORDER BY id"
        )
    claims = [await judging.claim(row["id"], "new-worker") for row in rows]
    assert [row["submission_id"] for row in rows] == [one.submission_id for one in claims if one]
