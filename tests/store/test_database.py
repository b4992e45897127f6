import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kernelbot.domain.errors import Unavailable
from kernelbot.store.database import Database
from kernelbot.store.embedded import EmbeddedPostgres


@pytest.fixture
def own_postgres() -> Iterator[EmbeddedPostgres]:
    """A server that the test may stop."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-test-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        postgres.start()
        yield postgres
    finally:
        postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


async def test_the_first_to_ask_a_database_that_is_back_is_answered(
    own_postgres: EmbeddedPostgres,
) -> None:
    async with Database(own_postgres.url("postgres")) as database:
        assert 7 == await _seven(database)
        await asyncio.to_thread(own_postgres.stop)
        # Long enough for attempts that double their distance to lie far apart.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(9):
                while True:
                    with pytest.raises(Unavailable):
                        await _seven(database)
                    await asyncio.sleep(0.1)
        await asyncio.to_thread(own_postgres.start)
        assert 7 == await _seven(database)


async def test_a_connection_that_the_server_closed_is_noticed_at_once(database_url: str) -> None:
    async with Database(database_url, max_size=1) as database:
        assert 7 == await _seven(database)
        with psycopg.connect(database_url, autocommit=True) as other:
            ended = other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            ).fetchall()
        assert [(True,)] == ended
        assert 7 == await _seven(database)


async def _seven(database: Database) -> object:
    async with database.read() as session:
        row = await session.one("SELECT 7 AS seven")
    assert row is not None
    return row["seven"]
