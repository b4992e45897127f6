"""Boards whose problem's data recurs: the organiser is told, and nothing is ranked."""

from dataclasses import replace

import pytest

from kernelbot.domain.errors import Conflict
from kernelbot.protocol import Mode
from tests.fakes.host import result_of
from tests.support.judging import judging
from tests.support.problems import sort_problem
from tests.support.ranked import ranked
from tests.support.world import World

SAID = "The data of timed calls recurs (<b>; \x00\ud800; seed: 1)" + "x" * 5000
KEPT = "The data of timed calls recurs (<b>; \u2400?; seed: 1)"


async def benchmarked(world: World, said: str) -> None:
    """A submission whose judge says this of the data."""
    await world.submit(mode=Mode.BENCHMARK)
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    result = replace(result_of(claim.spec, ["accepted"]), recurring_data=said)
    assert await judge.finish(claim, "w", result)


async def test_nothing_is_ranked_until_the_problem_has_changed(world: World) -> None:
    await world.board()
    await benchmarked(world, "")  # which keeps nothing: what is said later is kept
    await benchmarked(world, SAID)
    await benchmarked(world, "another text")
    with pytest.raises(Conflict, match="Nothing is ranked on 'sort' just now: The data of"):
        await world.submit()
    before = await world.services.boards.get(world.admin.user, "sort")
    knows = sort_problem()
    knows = replace(knows, spec=replace(knows.spec, recurring_data=True))
    await world.change_problem(knows)
    after = await world.services.boards.get(world.admin.user, "sort")
    assert (KEPT, 1000, "") == (
        before.recurring_data.rstrip("x"),
        len(before.recurring_data),
        after.recurring_data,
    )
    await benchmarked(world, SAID)
    assert (await world.submit(world.bob.user)).id


async def test_a_corrected_text_changes_nothing(world: World) -> None:
    await world.board()
    await benchmarked(world, SAID)
    await world.change_problem(replace(sort_problem(), description="A typo is corrected."))
    board = await world.services.boards.get(world.admin.user, "sort")
    assert KEPT == board.recurring_data.rstrip("x")
    with pytest.raises(Conflict, match="Nothing is ranked on 'sort' just now: The data of"):
        await world.submit()


async def test_what_a_rejudge_notices_is_of_the_problem_that_it_judges_by(world: World) -> None:
    await world.board()
    await ranked(world, 1.0)
    changed = sort_problem()
    changed = replace(changed, spec=replace(changed.spec, tests=changed.spec.tests[:1]))
    await world.change_problem(changed)
    await world.services.rejudging.start(world.admin.user, "sort")
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    result = replace(result_of(claim.spec, ["accepted"]), recurring_data=SAID)
    assert await judge.finish(claim, "w", result)
    now = await world.services.boards.get(world.admin.user, "sort")
    await world.change_problem(sort_problem())
    before = await world.services.boards.get(world.admin.user, "sort")
    assert (KEPT, "") == (now.recurring_data.rstrip("x"), before.recurring_data)


async def test_new_data_are_ranked(world: World) -> None:
    await world.board()
    await benchmarked(world, "")
    assert (await world.submit(world.bob.user)).id
