"""Rejudges that are ended before their time, and how often one may begin."""

import psycopg
import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.domain.errors import Conflict, NotAllowed, NotFound
from kernelbot.protocol import EventKind, Fault, ProgressEvent, Verdict
from tests.support.judging import judging
from tests.support.ranked import ranked, rejudge_ends, rejudged
from tests.support.world import World


async def _creator(world: World) -> User:
    """Who has created the board."""
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    async with world.database.write() as session:
        await session.do("UPDATE leaderboards SET creator_id = %(id)s", {"id": carl.id})
    return carl


async def _an_hour_passes(world: World) -> None:
    async with world.database.write() as session:
        await session.do("UPDATE rejudges SET created_at = created_at - interval '1 hour'")


async def _standing(world: World) -> list[tuple[int, float]]:
    page = await world.services.standings.page(None, "sort", None)
    return [(row.submission_id, row.score_s) for row in page.standings]


async def test_one_that_is_ended_leaves_the_ranking_as_it_is(world: World) -> None:
    await world.board()
    ada, bob = await ranked(world, 1.0), await ranked(world, 2.0, author=world.bob.user)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    await rejudge_ends(world, started, {ada: 3.0})
    ended = await world.services.rejudging.end(world.admin.user, "sort", started.id)
    assert (False, ()) == (ended.finished_at is None, ended.runs)
    assert [(ada, 1.0), (bob, 2.0)] == await _standing(world)


async def test_the_next_may_begin_and_nothing_of_the_other_is_judged(world: World) -> None:
    await world.board()
    ada = await ranked(world, 1.0)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    async with await psycopg.AsyncConnection.connect(world.database.url, autocommit=True) as heard:
        await heard.execute("LISTEN kernelbot_cancelled")
        await world.services.rejudging.end(world.admin.user, "sort", started.id)
        told = [one.payload async for one in heard.notifies(timeout=60, stop_after=1)]
    assert [str(claim.run_id)] == told
    assert await judge.claim("CPU", "w") is None
    await rejudged(world, {ada: 1.5})
    assert [(ada, 1.5)] == await _standing(world)


async def test_what_has_ended_is_not_ended_again(world: World) -> None:
    await world.board()
    ada = await ranked(world, 1.0)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    await rejudge_ends(world, started, {ada: 1.5})
    with pytest.raises(Conflict, match="ended already"):
        await world.services.rejudging.end(world.admin.user, "sort", started.id)
    assert [(ada, 1.5)] == await _standing(world)


async def test_it_is_for_organisers_and_of_its_board(world: World) -> None:
    await world.board()
    await world.board("other")
    await ranked(world, 1.0)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    with pytest.raises(NotAllowed):
        await world.services.rejudging.end(world.ada.user, "sort", started.id)
    for board, number in (("other", started.id), ("sort", 99), ("sort", 2**63)):
        with pytest.raises(NotFound):
            await world.services.rejudging.end(world.admin.user, board, number)


async def test_a_creator_begins_one_an_hour_on_each_device(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    await ranked(world, 1.0)
    await ranked(world, 1.0, device="H100", says="1")
    carl = await _creator(world)
    start, end = world.services.rejudging.start, world.services.rejudging.end
    first = await start(carl, "sort", device="CPU")
    await end(carl, "sort", first.id)
    with pytest.raises(Conflict, match="within the last hour"):
        await start(carl, "sort", device="CPU")
    await start(carl, "sort", device="H100")
    await _an_hour_passes(world)
    assert (await start(carl, "sort", device="CPU")).finished_at is None


async def test_admins_are_not_limited(world: World) -> None:
    await world.board()
    ada = await ranked(world, 1.0)
    for score_s in (1.5, 1.6):
        await rejudged(world, {ada: score_s})
    assert [(ada, 1.6)] == await _standing(world)


async def test_what_it_told_of_its_secret_data_stays_secret(world: World) -> None:
    """Its runs are deleted, and what they told of themselves isn't."""
    await world.board()
    ada, _ = await ranked(world, 1.0), await ranked(world, 2.0, author=world.bob.user)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.launched(claim, "w", "handle")
    case = ProgressEvent(EventKind.CASE, index=0, verdict=Verdict.MEMORY_LIMIT, message="[3, 1]")
    assert await judge.progressed(claim, "w", [case])
    assert await judge.lost(claim, "w", "node-7 is gone", Fault.SCHEDULER, again=False)
    before = [one async for one in world.services.submissions.events(world.ada.user, ada)]
    await world.services.rejudging.end(world.admin.user, "sort", started.id)
    after = [one async for one in world.services.submissions.events(world.ada.user, ada)]
    assert [(one.kind, one.data) for one in before] == [(one.kind, one.data) for one in after]
