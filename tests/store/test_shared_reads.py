"""One reading for all who ask before it begins."""

import asyncio

import pytest

from kernelbot.domain.errors import Unavailable
from kernelbot.store.database import Database, ReadSession
from kernelbot.store.shared_reads import SharedReads
from tests.support.world import World


class Reading:
    """A reading that can be held once it has begun."""

    def __init__(self) -> None:
        self.begun = 0
        self.has_begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, session: ReadSession, key: str) -> str:
        self.begun += 1
        number = self.begun
        self.has_begun.set()
        await self.may_end.wait()
        if key == "a'; echo x":
            raise LookupError(key)
        row = await session.one("SELECT %(number)s::int AS number", {"number": number})
        assert row is not None
        return f"{key} {row['number']}"


async def test_who_asks_at_the_same_moment_shares_a_reading(world: World) -> None:
    reading = Reading()
    reads = SharedReads(world.database, reading)
    reading.may_end.set()
    one, two, again = await asyncio.gather(*[reads.get(key) for key in ("one", "two", "one")])
    assert (2, True, False) == (reading.begun, one is again, one == two)


async def test_who_asks_once_it_has_begun_is_told_what_holds_then(world: World) -> None:
    reading = Reading()
    reads = SharedReads(world.database, reading)
    first = asyncio.create_task(reads.get("one"))
    await reading.has_begun.wait()
    reading.has_begun.clear()
    second = asyncio.create_task(reads.get("one"))
    await reading.has_begun.wait()
    reading.may_end.set()
    assert ["one 1", "one 2"] == [await first, await second]


async def test_who_leaves_ends_no_reading_of_others(world: World) -> None:
    reading = Reading()
    reads = SharedReads(world.database, reading)
    leaves, stays = (asyncio.create_task(reads.get("one")) for _ in range(2))
    await reading.has_begun.wait()
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    reading.may_end.set()
    assert ("one 1", 1) == (await stays, reading.begun)


async def test_an_error_reaches_all_and_is_not_kept(world: World) -> None:
    reading = Reading()
    reads = SharedReads(world.database, reading)
    reading.may_end.set()
    asked = [reads.get("a'; echo x") for _ in range(3)]
    errors = await asyncio.gather(*asked, return_exceptions=True)
    assert [LookupError] * 3 == [type(error) for error in errors]
    with pytest.raises(LookupError):
        await reads.get("a'; echo x")
    assert 2 == reading.begun


async def test_without_a_connection_the_next_who_asks_tries_again(world: World) -> None:
    reading = Reading()
    async with Database(world.database.url) as database:
        reads = SharedReads(database, reading)
    reading.may_end.set()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await reads.get("one")
    assert 0 == reading.begun
