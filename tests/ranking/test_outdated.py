"""How many best scores a board has of an earlier version of its problem: whoever has no other, and
as long as they have it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import psycopg
import pytest

from kernelbot.accounts.model import User
from tests.support.problems import sort_problem
from tests.support.ranked import judged, ranked
from tests.support.world import World

Step = Callable[[World, int], Awaitable[object]]


async def _outdated(world: World) -> int:
    return (await world.services.boards.get(None, "sort")).outdated_scores


async def _change_problem(world: World) -> None:
    problem = sort_problem("sort")
    spec = replace(problem.spec, tests=problem.spec.tests[:1])
    await world.change_problem(replace(problem, spec=spec))
    async with world.database.write() as session:
        await session.one("SELECT rebuild_board_standings(id) FROM leaderboards")


async def _of_two(world: World) -> tuple[int, int]:
    """Ada's and bob's only scores, which are of an earlier version."""
    await world.board()
    numbers = await ranked(world, 1.0), await ranked(world, 2.0, author=world.bob.user)
    await _change_problem(world)
    assert 2 == await _outdated(world)
    return numbers


async def _ban(world: World, _: int) -> object:
    return await world.services.users.ban(world.admin.user, world.ada.user.id)


async def _unban(world: World, _: int) -> object:
    return await world.services.users.unban(world.admin.user, world.ada.user.id)


async def _refuse(world: World, number: int) -> object:
    return await world.services.reviews.refuse(world.admin.user, number, "copied")


async def _release(world: World, number: int) -> object:
    return await world.services.reviews.release(world.admin.user, number, "not copied")


async def _delete(world: World, number: int) -> None:
    await world.services.deletion.delete_submission(world.admin.user, number)


@pytest.mark.parametrize(("goes", "comes"), [(_ban, _unban), (_refuse, _release), (_delete, None)])
async def test_what_does_not_count_any_more_is_not_outdated(
    world: World, goes: Step, comes: Step | None
) -> None:
    number, _ = await _of_two(world)
    await goes(world, number)
    assert 1 == await _outdated(world)
    if comes is not None:
        await comes(world, number)
        assert 2 == await _outdated(world)


async def test_what_waited_while_the_problem_changed_is_outdated_once_it_is_judged(
    world: World,
) -> None:
    await world.board()
    waits = await world.submit()
    await _change_problem(world)
    assert 0 == await _outdated(world)
    await judged(world, waits.id, 1.0)
    assert 1 == await _outdated(world)


async def test_who_is_ranked_again_takes_away_their_own_alone(world: World) -> None:
    """Whoever came after the change had none."""
    await _of_two(world)
    cyd = (await world.services.users.create("cyd")).user
    for author, left in ((cyd, 2), (world.ada.user, 1)):
        await _rank(world, author)
        assert left == await _outdated(world)


async def _rank(world: World, author: User) -> None:
    await ranked(world, 3.0, author=author, says=f"of = {author.id}")


async def test_who_loses_their_place_has_an_outdated_score_again(world: World) -> None:
    await _of_two(world)
    again = await ranked(world, 3.0, says="again")
    assert 1 == await _outdated(world)
    await _delete(world, again)
    assert 2 == await _outdated(world)


async def test_of_whom_it_is_not_known_nothing_is_counted_twice(world: World) -> None:
    """As of all who were counted by the release before."""
    number, _ = await _of_two(world)
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE decisions SET is_outdated = NULL")
    await world.submit(content=b"# another\n")
    async with world.database.write() as session:
        await session.all("SELECT refresh_standing(1, 'CPU', author_id) FROM submissions")
    assert 2 == await _outdated(world)
    await _delete(world, number)
    assert 1 == await _outdated(world)
