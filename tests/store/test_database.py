import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from kernelbot.domain.errors import PlatformError, Unavailable
from kernelbot.store.database import Database, DatabaseShare
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.timeouts import DatabaseTimeouts
from tests.support.kept_sessions import numbers_of_kept
from tests.support.late_door import late_door
from tests.support.postgres import LIMITS
from tests.support.waiting import until
from tests.support.world import World


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


@pytest.mark.exhaustive
async def test_the_first_to_ask_a_database_that_is_back_is_answered(
    own_postgres: EmbeddedPostgres,
) -> None:
    async with Database(own_postgres.url("postgres")) as database:
        assert 7 == await _seven(database)
        await asyncio.to_thread(own_postgres.stop)
        # Long enough for attempts that double their distance to lie far apart.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(9):  # nothing has to be done by then
                while True:
                    with pytest.raises(Unavailable):
                        await _seven(database)
                    await asyncio.sleep(0.1)
        await asyncio.to_thread(own_postgres.start)
        assert 7 == await _seven(database)


async def test_who_starts_waits_longer_for_the_first_connection_than_a_request_does(
    database_url: str,
) -> None:
    async with late_door(database_url, late_s=0.5) as url, Database(url, timeout_s=0.1) as database:
        assert 7 == await _seven(database)


# Each run has test_who_starts_waits_longer_for_the_first_connection_than_a_request_does
@pytest.mark.exhaustive
async def test_who_starts_is_told_how_long_the_database_has_not_let_them_in(
    database_url: str,
) -> None:
    async with late_door(database_url, late_s=60) as url:
        with pytest.raises(Unavailable, match=r"hasn't let us in within 0.2 s"):
            async with Database(url, connect_s=0.2):
                pytest.fail("nobody has let it in")


@pytest.mark.exhaustive  # each run has test_a_connection_that_the_server_closed_is_noticed_at_once
async def test_who_starts_goes_on_without_a_database_that_refuses() -> None:
    async with (
        asyncio.timeout(60),
        Database("postgresql://127.0.0.1:1/x", timeout_s=0.1, connect_s=3600) as database,
    ):
        with pytest.raises(Unavailable, match="can't be reached just now"):
            await _seven(database)


async def test_a_connection_that_the_server_closed_is_noticed_at_once(database_url: str) -> None:
    async with Database(database_url, max_size=1) as database:
        assert 7 == await _seven(database)
        with psycopg.connect(database_url, autocommit=True) as other:
            ended = other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend' AND NOT pid = ANY(%s)",
                (numbers_of_kept(),),
            ).fetchall()
        assert [(True,)] == ended
        assert 7 == await _seven(database)


@pytest.mark.parametrize("turns", range(12))
async def test_who_is_cancelled_as_they_get_a_connection_goes_no_further(
    database_url: str, turns: int
) -> None:
    async with Database(database_url, max_size=1) as database:
        asked, entered = asyncio.Event(), asyncio.Event()

        async def ask() -> None:
            asked.set()
            async with database.read():
                entered.set()
                await asyncio.Event().wait()

        async with database.read():
            asking = asyncio.create_task(ask())
            await asked.wait()
            await asyncio.sleep(0.01)
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        assert {asking} == (await asyncio.wait([asking], timeout=60))[0]
        assert asking.cancelled()
        assert 7 == await _seven(database)


async def test_who_is_cancelled_as_the_database_goes_is_not_told_of_that(database_url: str) -> None:
    """Else they would try again for ever."""
    async with Database(database_url) as database:
        entered = asyncio.Event()

        async def ask() -> None:
            async with database.read():
                entered.set()
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    raise psycopg.OperationalError("the server has gone") from None

        asking = asyncio.create_task(ask())
        await entered.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()


async def test_who_waits_for_a_lock_too_long_is_told_and_holds_no_connection(
    database_url: str,
) -> None:
    async with Database(
        database_url, max_size=1, limits=DatabaseTimeouts(locked_s=0.05)
    ) as database:
        with psycopg.connect(database_url) as other:
            other.execute("LOCK TABLE users")
            with pytest.raises(Unavailable, match="changing the same data"):
                async with database.read() as session:
                    await session.one("SELECT id FROM users")
            assert 7 == await _seven(database)


async def test_what_takes_too_long_is_ended(database_url: str) -> None:
    async with Database(database_url, max_size=1, limits=DatabaseTimeouts(slow_s=1.0)) as database:
        with pytest.raises(Unavailable, match="took too long"):
            async with database.read() as session:
                await session.one("SELECT pg_sleep(60)")
        assert 7 == await _seven(database)


async def test_a_share_leaves_the_other_connections_to_others(database_url: str) -> None:
    async with Database(database_url, max_size=3) as whole, DatabaseShare(whole, 2) as share:
        async with share.read(), share.read() as second:
            third = asyncio.create_task(_seven(share))
            assert 7 == await _seven(whole)  # there is a third connection, but not for the share
            assert 7 == await _seven(whole)
            assert not third.done()
            assert {"seven": 7} == await second.one("SELECT 7 AS seven")
        async with asyncio.timeout(60):
            assert 7 == await third


async def test_a_share_has_the_limits_of_the_whole(database_url: str) -> None:
    limits = DatabaseTimeouts(unhurried_s=0.5)
    async with Database(database_url, max_size=1, limits=limits) as whole:
        with pytest.raises(Unavailable, match="took too long"):
            async with DatabaseShare(whole, 1).write(unhurried=True) as session:
                await session.one("SELECT pg_sleep(60)")


@pytest.mark.exhaustive  # each run has test_a_connection_that_the_server_closed_is_noticed_at_once
async def test_what_needs_its_time_has_it_and_nothing_after_it(database_url: str) -> None:
    async with Database(database_url, max_size=1, limits=DatabaseTimeouts(slow_s=1.0)) as database:
        async with database.write(unhurried=True) as session:
            await session.one("SELECT pg_sleep(1.5)")
        with pytest.raises(Unavailable, match="took too long"):
            async with database.write() as session:
                await session.one("SELECT pg_sleep(60)")


async def test_long_work_has_a_limit_too(database_url: str) -> None:
    async with Database(
        database_url, max_size=1, limits=DatabaseTimeouts(unhurried_s=0.5)
    ) as database:
        with pytest.raises(Unavailable, match="took too long"):
            async with database.write(unhurried=True) as session:
                await session.one("SELECT pg_sleep(60)")
        assert 7 == await _seven(database)


async def test_a_transaction_in_which_we_do_nothing_is_ended_and_holds_no_lock(
    database_url: str,
) -> None:
    limits = DatabaseTimeouts(idle_s=0.05)

    async def stand_still(database: Database) -> None:
        async with database.write() as session:
            await session.do("LOCK TABLE users")
            with psycopg.connect(database_url, options="-c lock_timeout=30s") as other:
                other.execute("LOCK TABLE users")  # granted once the first one is ended
            await session.one("SELECT 1")

    async with Database(database_url, max_size=1, limits=limits) as database:
        with pytest.raises(Unavailable, match="took us too long"):
            await stand_still(database)
        assert 7 == await _seven(database)


@pytest.mark.exhaustive  # each run has test_a_connection_that_the_server_closed_is_noticed_at_once
async def test_limits_hold_whatever_the_database_is_set_to(own_postgres: EmbeddedPostgres) -> None:
    url = own_postgres.url("postgres")
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    with psycopg.connect(url, autocommit=True) as connection:
        for name in names:
            connection.execute(f"ALTER DATABASE postgres SET {name} = 0")
    async with Database(url) as database, database.read() as session:
        row = await session.one(LIMITS)
    assert {"locked": "8s", "slow": "1min", "idle": "1min"} == row


@pytest.mark.exhaustive  # each run has test_a_connection_that_the_server_closed_is_noticed_at_once
async def test_times_are_utc_whatever_the_database_is_set_to(
    own_postgres: EmbeddedPostgres,
) -> None:
    url = own_postgres.url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE postgres SET TimeZone = 'Europe/Berlin'")
    async with Database(url) as database, database.read() as session:
        row = await session.one("SELECT timestamptz '2027-01-31 12:00+00' AS at")
    assert row is not None
    assert "2027-01-31T12:00:00+00:00" == row["at"].isoformat()


async def test_of_two_that_deadlock_one_is_told_to_try_again(world: World) -> None:
    met = asyncio.Barrier(2)

    async def lock_both(first: int, second: int) -> None:
        async with world.database.write() as session:
            await session.do("SELECT 1 FROM users WHERE id = %(id)s FOR UPDATE", {"id": first})
            await met.wait()
            await session.do("SELECT 1 FROM users WHERE id = %(id)s FOR UPDATE", {"id": second})

    answers = await asyncio.gather(lock_both(1, 2), lock_both(2, 1), return_exceptions=True)
    failed = [answer for answer in answers if answer is not None]
    assert ["Somebody else is changing the same data just now."] == [str(error) for error in failed]
    assert isinstance(failed[0], Unavailable)


async def test_a_database_that_takes_no_changes_is_to_be_asked_again(database_url: str) -> None:
    """As in the seconds in which a cluster's primary hands over to another server."""
    read_only = "options=-c%20default_transaction_read_only%3Don"
    url = f"{database_url}{'&' if '?' in database_url else '?'}{read_only}"
    async with Database(url) as database:
        with pytest.raises(Unavailable, match="takes no changes just now"):
            async with database.write() as session:
                await session.do("INSERT INTO users (name) VALUES ('ada')")
        assert 7 == await _seven(database)


async def _seven(database: Database) -> object:
    async with database.read() as session:
        row = await session.one("SELECT 7 AS seven")
    assert row is not None
    return row["seven"]


@pytest.mark.parametrize(
    "statement",
    ["SELECT array_fill(0, ARRAY[1000000000])", "SELECT repeat('[', 9999999)::json"],
    ids=["large", "deep"],
)
async def test_what_is_too_much_for_the_database_is_not_to_be_tried_again(
    world: World, statement: LiteralString
) -> None:
    with pytest.raises(PlatformError, match="too large for the database") as raised:
        async with world.database.read() as session:
            await session.one(statement)
    assert not isinstance(raised.value, Unavailable)


async def test_who_is_cancelled_while_a_connection_is_given_back_loses_none(
    database_url: str,
) -> None:
    """As by a client that goes away: the pool's only one has to wait for its turn just then."""
    async with Database(database_url, max_size=1, timeout_s=60.0) as database:
        has_read, may_end = asyncio.Event(), asyncio.Event()

        async def read() -> None:
            async with database.read() as session:
                await session.one("SELECT 7 AS number")
                has_read.set()
                await may_end.wait()

        reading = asyncio.create_task(read())
        await has_read.wait()
        turn = database._pool._lock  # nobody else can be made to wait here at will
        async with turn:
            may_end.set()
            await until(lambda: bool(turn._waiters))
            reading.cancel()
            await asyncio.wait([reading])
        assert reading.cancelled()
        assert 7 == await _seven(database)
