"""Those who follow a submission."""

import asyncio

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, Mode
from kernelbot.runs import store as attempts
from kernelbot.submissions.model import Event, Submission
from tests.support.world import World

_MANY = 2500
"""More than are read at once, twice."""


async def _tell(world: World, sent: Submission, count: int) -> None:
    """Have the submission's run tell of so many cases."""
    steps = [(EventKind.CASE, {"index": float(number)}) for number in range(count)]
    async with world.database.write() as session:
        await attempts.add_progress(session, sent.id, sent.runs[0].id, steps)


async def test_more_events_than_are_read_at_once_come_in_their_order(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    await _tell(world, sent, _MANY)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    events = world.services.submissions.events(world.ada.user, sent.id)
    ids = [event.id async for event in events]
    assert list(range(1, _MANY + 3)) == ids  # the first says that it waits, the last its end


async def test_what_is_told_while_a_follower_is_busy_wakes_it(world: World) -> None:
    """It is announced after the follower has looked, and before it waits."""
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    events = world.services.submissions.events(world.ada.user, sent.id)
    seen = [await anext(events)]
    await _tell(world, sent, 1)
    await asyncio.sleep(0.2)  # long enough for the announcement to have come
    async with asyncio.timeout(5):  # a follower that wasn't woken looks after 15 s
        seen.append(await anext(events))
    assert [RunState.QUEUED, EventKind.CASE] == _kinds(seen)


async def test_a_follower_is_told_the_end_with_what_came_before_it(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    events = world.services.submissions.events(world.ada.user, sent.id)
    seen = [await anext(events)]
    await _tell(world, sent, 2)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    async with asyncio.timeout(60):
        seen += [event async for event in events]
    assert [RunState.QUEUED, *[EventKind.CASE] * 2, RunState.CANCELLED] == _kinds(seen)


def _kinds(events: list[Event]) -> list[EventKind | RunState]:
    return [event.kind for event in events]
