"""A verdict, or a decision, on a device that a sync offers again in the same moment: whichever is
committed last, the standing is there."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg

from tests.boards.sync.offering import offer, put_devices
from tests.support.postgres import WAITS_FOR_A_LOCK
from tests.support.waiting import until_told
from tests.support.world import World

_REFRESH = "SELECT refresh_standing(1, 'CPU', %s)"


async def _away(world: World) -> int:
    """The number of a submission of ada's that is judged on a device which isn't offered now."""
    await world.board()
    submitted = await world.submit()
    async with world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched'", {})
    await offer(world, "H100")
    return submitted.id


async def _accept(connection: "psycopg.AsyncConnection[tuple[object, ...]]", world: World) -> None:
    await connection.execute(
        "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
        " score_s = 1.0"
    )
    await connection.execute(_REFRESH, (world.ada.user.id,))


def _over_or_waiting(world: World, task: "asyncio.Future[None]") -> Callable[[], Awaitable[bool]]:
    async def asks() -> bool:
        async with world.database.read() as session:
            return task.done() or len(await session.all(WAITS_FOR_A_LOCK)) == 1

    return asks


async def _ranking(world: World) -> list[str]:
    page = await world.services.standings.page(None, "sort", "CPU")
    return [row.author for row in page.standings]


async def test_a_verdict_that_is_committed_after_the_sync(world: World) -> None:
    await _away(world)
    async with await psycopg.AsyncConnection.connect(world.database.url) as judged:
        await _accept(judged, world)
        syncing = asyncio.ensure_future(offer(world, "CPU"))
        await until_told(_over_or_waiting(world, syncing))
        await judged.commit()
        await syncing
    assert ["ada"] == await _ranking(world)


async def test_a_verdict_that_is_committed_before_the_sync(world: World) -> None:
    await _away(world)

    async def accept() -> None:
        async with await psycopg.AsyncConnection.connect(world.database.url) as judged:
            await _accept(judged, world)

    async with world.database.write() as session:
        await put_devices(session, world, "CPU")
        judging = asyncio.ensure_future(accept())
        await until_told(_over_or_waiting(world, judging))
    await judging
    assert ["ada"] == await _ranking(world)
