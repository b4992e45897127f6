"""Those who follow a submission."""

import asyncio
from datetime import UTC, datetime
from functools import partial

import pytest

from kernelbot.accounts.model import Role
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.states import RunState
from kernelbot.platform.notifications import Waker
from kernelbot.protocol import EventKind, Mode
from kernelbot.runs import store as attempts
from kernelbot.submissions.model import Submission, SubmissionEvent
from tests.support.world import World

_MANY = 2500
"""More than are read at once, twice."""


async def _tell(world: World, sent: Submission, count: int) -> None:
    """Have the submission's run tell of so many cases."""
    steps = [(EventKind.CASE, {"index": float(number)}) for number in range(count)]
    async with world.database.write() as session:
        await attempts.add_progress(session, sent.id, sent.runs[0].id, steps)


@pytest.fixture
def never_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that isn't woken would look after 15 s, which a busy machine may need."""
    monkeypatch.setattr(Waker.wait, "__defaults__", (600.0,))


@pytest.mark.usefixtures("never_looks_again")
async def test_more_events_than_are_read_at_once_come_in_their_order(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    await _tell(world, sent, _MANY)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    events = world.services.submissions.events(world.ada.user, sent.id)
    async with asyncio.timeout(60):
        ids = [event.id async for event in events]
    assert list(range(1, _MANY + 3)) == ids  # the first says that it waits, the last its end


@pytest.mark.usefixtures("never_looks_again")
async def test_what_is_told_while_a_follower_is_busy_wakes_it(world: World) -> None:
    """It is announced after the follower has looked, and before it waits."""
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    events = world.services.submissions.events(world.ada.user, sent.id)
    seen = [await anext(events)]
    await _tell(world, sent, 1)
    await asyncio.sleep(0.2)  # long enough for the announcement to have come
    async with asyncio.timeout(60):
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


async def test_an_organiser_who_was_banned_follows_nobody_s_submission_any_more(
    world: World,
) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    users, ask = world.services.users, world.services.submissions
    eve = await users.create("eve", Role.ADMIN)
    again = partial(users.authenticate, eve.token)
    batches = await ask.follow(eve.user, sent.id, again=again, ask_again_s=0.0)
    await anext(batches)
    await users.ban(world.admin.user, eve.user.id)
    await _tell(world, sent, 1)
    with pytest.raises(NotAllowed):
        await anext(batches)


async def test_who_could_read_a_board_s_code_follows_no_longer_once_it_is_closed(
    world: World,
) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    boards = world.services.boards
    over = BoardEdit(deadline=datetime(2020, 1, 1, tzinfo=UTC), reveal_code=True)
    await boards.edit(world.admin.user, "sort", over)
    batches = await world.services.submissions.follow(world.bob.user, sent.id, ask_again_s=0.0)
    await anext(batches)
    await boards.edit(world.admin.user, "sort", BoardEdit(visibility=Visibility.CLOSED))
    await _tell(world, sent, 1)
    with pytest.raises(NotFound):
        await anext(batches)


async def test_a_follower_learns_that_a_submission_was_deleted_however_lately_they_were_asked(
    world: World,
) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    ask = world.services.submissions
    batches = await ask.follow(world.ada.user, sent.id, ask_again_s=600.0)
    await anext(batches)
    await world.services.deletion.delete_submission(world.ada.user, sent.id)
    with pytest.raises(NotFound):
        await anext(batches)


def _kinds(events: list[SubmissionEvent]) -> list[EventKind | RunState]:
    return [event.kind for event in events]
