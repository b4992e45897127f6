"""What one test leaves in a database, the next one doesn't find."""

from typing import LiteralString

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from kernelbot.accounts.model import Role
from kernelbot.server.wiring import open_services
from tests.support.postgres import TestServer, objects
from tests.support.world import DEVICES


def name_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


async def new_number(url: str) -> tuple[int, int]:
    """The first account's number, and how many there are then."""
    async with open_services(url, DEVICES) as core:
        made = await core.services.users.create("root", Role.ADMIN)
        async with core.database.read() as session:
            row = await session.one("SELECT count(*) AS users FROM users")
    assert row is not None
    return made.user.id, row["users"]


async def test_the_next_one_finds_no_row_and_counts_from_the_beginning(
    postgres: TestServer,
) -> None:
    with postgres.database() as url:
        before = await new_number(url)
    with postgres.database() as again:
        assert name_of(again) == name_of(url)
        assert before == await new_number(again)


async def test_who_has_not_left_is_sent_away_with_what_they_were_writing(
    postgres: TestServer,
) -> None:
    with postgres.database() as url:
        left = psycopg.connect(url)
        left.execute("INSERT INTO users (name) VALUES ('left')")
    with postgres.database() as again:
        assert (1, 1) == await new_number(again)
    with pytest.raises(psycopg.OperationalError):
        left.execute("SELECT 1")
    left.close()


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE another ()",
        "ALTER TABLE users ALTER COLUMN name DROP NOT NULL",
        "ALTER TABLE runs DISABLE TRIGGER USER",
        "UPDATE platform SET accepts_jobs = false, reason = 'a''; echo x'",
        "ALTER DATABASE {} SET statement_timeout = '1h'",
        "INSERT INTO users (name) SELECT 'u' || n FROM generate_series(1, 20000) n",
    ],
)
def test_what_was_changed_for_good_is_given_to_nobody(
    postgres: TestServer, change: LiteralString
) -> None:
    with postgres.database() as url:
        before = objects(url)
        name = name_of(url)
        with psycopg.connect(url) as connection:
            connection.execute(SQL(change).format(Identifier(name)))
    with postgres.database() as another:
        assert name != name_of(another)
        assert before == objects(another)
