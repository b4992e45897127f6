"""Who sees a board's duels, and the pairs of calls that they are made of."""

from dataclasses import replace

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed, NotFound
from tests.fakes.host import result_of
from tests.support.duels import FASTER, SAME, all_duels, neighbours, two_of_ada
from tests.support.judging import begun_duel, fought, judging
from tests.support.world import World

pytestmark = pytest.mark.each_run(
    "test_a_board_s_duels_are_as_visible_as_the_board",
    "test_its_pairs_are_for_those_who_may_see_both",
    "test_one_duel_is_as_public_as_all",
)


async def test_a_board_s_duels_are_as_visible_as_the_board(world: World) -> None:
    _, second = await two_of_ada(world)
    list_duels = world.services.duels.list_duels
    assert 1 == len(await list_duels(None, "SORT", device="cpu", submission_id=second))
    assert [] == await list_duels(None, "sort", submission_id=2**63)


async def test_its_pairs_are_for_those_who_may_see_both(world: World) -> None:
    await neighbours(world)
    await fought(world, SAME)
    (duel,) = await all_duels(world)
    measured = world.services.duels.measured
    for one in (world.ada.user, world.bob.user):
        with pytest.raises(NotAllowed):
            await measured(one, "sort", duel.id)
    (load,) = await measured(world.admin.user, "sort", duel.id)
    assert ("size: 10000; seed: 7", SAME[0], (1e9,) * 6) == (
        load.spec,
        load.ratio,
        load.opponent_ns,
    )


async def test_of_their_own_authors_see_the_pairs_and_not_the_data(world: World) -> None:
    await two_of_ada(world)
    (waiting,) = await all_duels(world)
    before = await world.services.duels.measured(world.ada.user, "sort", waiting.id)
    await fought(world, FASTER)
    (load,) = await world.services.duels.measured(world.ada.user, "sort", waiting.id)
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(fixed_seed=True))
    shared = await world.services.duels.measured(world.ada.user, "sort", waiting.id)
    assert ([], (0, None, tuple(ratio * 1e9 for ratio in FASTER) * 2), []) == (
        before,
        (load.workload, load.spec, load.submission_ns),
        shared,
    )


async def test_pairs_of_a_shared_seed_stay_for_admins_when_it_is_shared_no_longer(
    world: World,
) -> None:
    await two_of_ada(world)
    edit = world.services.boards.edit
    await edit(world.admin.user, "sort", BoardEdit(fixed_seed=True))
    await fought(world, SAME)
    await edit(world.admin.user, "sort", BoardEdit(fixed_seed=False))
    (duel,) = await all_duels(world)
    seen = [
        await world.services.duels.measured(one.user, "sort", duel.id)
        for one in (world.ada, world.admin)
    ]
    assert [0, 1] == [len(loads) for loads in seen]


async def test_pairs_of_a_failed_duel_are_not_for_authors(world: World) -> None:
    await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    result = result_of(claim.spec, list(map(str, FASTER)))
    assert await judge.finish(claim, "w", replace(result, suspicions=("too even",)))
    (duel,) = await all_duels(world)
    measured = world.services.duels.measured
    assert (0, 1) == (
        len(await measured(world.ada.user, "sort", duel.id)),
        len(await measured(world.admin.user, "sort", duel.id)),
    )


async def test_one_duel_is_as_public_as_all(world: World) -> None:
    await two_of_ada(world)
    await fought(world, FASTER)
    (duel,) = await all_duels(world)
    assert duel == await world.services.duels.get(None, "sort", duel.id)


@pytest.mark.parametrize("duel_id", [7, 2**80])
async def test_no_duel_of_this_number(world: World, duel_id: int) -> None:
    await world.board()
    with pytest.raises(NotFound, match=f"'sort' has no duel {duel_id}"):
        await world.services.duels.get(None, "sort", duel_id)


async def test_a_duel_of_another_board_is_not_there(world: World) -> None:
    await two_of_ada(world)
    await world.board("other")
    (duel,) = await all_duels(world)
    with pytest.raises(NotFound, match=f"'other' has no duel {duel.id}"):
        await world.services.duels.get(None, "other", duel.id)


@pytest.mark.parametrize("duel_id", [7, 2**80])
async def test_pairs_of_no_duel(world: World, duel_id: int) -> None:
    await world.board()
    with pytest.raises(NotFound, match=f"'sort' has no duel {duel_id}"):
        await world.services.duels.measured(world.admin.user, "sort", duel_id)
