"""Secret runs have seeds of their own, unless the board says that all share one."""

from kernelbot.boards.service import BoardEdit
from kernelbot.runs.lifecycle import RunLifecycle
from tests.runs.test_lifecycle import take_and_pass
from tests.support.judging import judging
from tests.support.world import World


async def _seeds(world: World, judge: RunLifecycle) -> list[int | None]:
    """Of the secret runs of two submissions."""
    claims = [await take_and_pass(world, judge) for _ in range(4)]
    return [claim.spec.seed for claim in claims if claim is not None and claim.spec.secret]


async def test_each_secret_run_has_a_seed_of_its_own(world: World) -> None:
    await world.board()
    await world.submit()
    await world.submit(world.bob.user)
    first, second = await _seeds(world, judging(world))
    assert first != second


async def test_a_board_can_give_all_the_same_seed(world: World) -> None:
    await world.board()
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(fixed_seed=True))
    await world.submit()
    await world.submit(world.bob.user)
    first, second = await _seeds(world, judging(world))
    assert (first, True) == (second, first is not None)


async def test_who_takes_a_run_over_asks_with_the_same_seed(world: World) -> None:
    await world.board()
    await world.submit()
    gone, heir = judging(world), judging(world, stale_s=0)
    claims = [await take_and_pass(world, gone) for _ in range(2)]
    secret = next(claim for claim in claims if claim is not None and claim.spec.secret)
    again = await heir.claim("CPU", "heir")
    assert again is not None
    assert (secret.run_id, secret.spec.seed) == (again.run_id, again.spec.seed)


async def test_public_runs_have_none(world: World) -> None:
    await world.board()
    await world.submit()
    claims = [await take_and_pass(world, judging(world)) for _ in range(2)]
    public = [claim.spec.seed for claim in claims if claim is not None and not claim.spec.secret]
    assert [None] == public
