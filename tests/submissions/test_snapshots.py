"""A submission as somebody finds it, with its place in the queue."""

import asyncio

from kernelbot.protocol import Mode
from tests.support.world import World


async def test_it_has_the_place_that_is_asked_for_alone(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST, content=b"# the first\n")
    sent = await world.submit(mode=Mode.TEST)
    ask = world.services.submissions
    found, place = await asyncio.gather(
        ask.snapshot(world.ada.user, sent.id), ask.queue_position(sent.id)
    )
    assert place is not None
    assert (place, 2) == (found.queue, place.position)


async def test_it_has_no_place_once_nothing_waits(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is None


async def test_its_place_says_that_no_worker_is_there(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is not None
    assert "no worker serves it just now" == found.queue.note


async def test_its_place_says_what_keeps_a_worker_from_the_device(world: World) -> None:
    await world.board()
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node) VALUES ('w', 'n'), ('dead', 'n')")
        await session.do("UPDATE workers SET heartbeat_at = '2000-01-01' WHERE owner = 'dead'")
        await session.do(
            "INSERT INTO worker_devices (owner, device, available, note)"
            " VALUES ('w', 'CPU', false, 'its host ended'), ('w', 'H100', false, 'no GPU'),"
            " ('dead', 'CPU', true, '')"
        )
    sent = await world.submit(mode=Mode.TEST)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is not None
    assert "its host ended" == found.queue.note
