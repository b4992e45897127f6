import asyncio

import pytest

from kernelbot.accounts.model import User
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.domain.errors import (
    DeviceNotOffered,
    NotAllowed,
    NotFound,
    TooManyRequests,
    UserError,
)
from kernelbot.protocol import Mode
from kernelbot.submissions.model import Submission
from tests.support.world import World

RANKED = LimitCategory.LEADERBOARD
TEST = LimitCategory.TEST


@pytest.fixture
async def limited(world: World) -> World:
    """A board that takes two ranked submissions an hour from each author."""
    await world.board()
    await world.services.limits.set(world.admin.user, "sort", RateLimit(RANKED, 2))
    return world


async def age_uses(world: World, by: str) -> None:
    async with world.database.write() as session:
        await session.do("UPDATE rate_uses SET used_at = used_at - %(by)s::interval", {"by": by})


async def test_up_to_the_limit_all_are_taken(limited: World) -> None:
    assert [1, 2] == [(await limited.submit()).id for _ in range(2)]


async def test_one_too_many_is_told_when_to_try_again(limited: World) -> None:
    await limited.submit()
    await age_uses(limited, "50 minutes")
    await limited.submit()
    with pytest.raises(TooManyRequests) as refused:
        await limited.submit()
    assert 590 <= refused.value.retry_after_s <= 600
    assert "The next one is taken in 10 min." == refused.value.hint


async def test_an_hour_later_there_is_room_again(limited: World) -> None:
    await limited.submit()
    await limited.submit()
    await age_uses(limited, "1 hour")
    assert 3 == (await limited.submit()).id


async def test_a_clock_put_back_keeps_nobody_waiting(limited: World) -> None:
    await limited.submit()
    await limited.submit()
    await age_uses(limited, "-1 day")
    assert 3 == (await limited.submit()).id


async def test_what_is_refused_later_does_not_count(limited: World) -> None:
    for _ in range(3):
        with pytest.raises(DeviceNotOffered):
            await limited.submit(devices=("H100",))
    assert "sort" == (await limited.submit()).board


async def test_authors_are_counted_apart(limited: World) -> None:
    await limited.submit()
    await limited.submit()
    assert "bob" == (await limited.submit(limited.bob.user)).author


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.BENCHMARK, Mode.PROFILE])
async def test_categories_are_counted_apart(limited: World, mode: Mode) -> None:
    await limited.submit()
    await limited.submit()
    assert mode == (await limited.submit(mode=mode)).mode


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.BENCHMARK, Mode.PROFILE])
async def test_what_is_not_ranked_is_counted_together(world: World, mode: Mode) -> None:
    await world.board()
    await world.services.limits.set(world.admin.user, "sort", RateLimit(TEST, 1))
    await world.submit(mode=Mode.TEST)
    with pytest.raises(TooManyRequests):
        await world.submit(mode=mode)


async def test_deleting_makes_no_room(limited: World) -> None:
    await limited.submit()
    await limited.submit()
    async with limited.database.write() as session:
        await session.do("DELETE FROM submissions")
    with pytest.raises(TooManyRequests):
        await limited.submit()


async def test_zero_means_closed_and_says_so(world: World) -> None:
    await world.board()
    await world.services.limits.set(world.admin.user, "sort", RateLimit(RANKED, 0))
    with pytest.raises(TooManyRequests, match="takes no ranked submissions") as refused:
        await world.submit()
    assert 3600.0 == refused.value.retry_after_s


async def test_a_removed_limit_limits_nothing(world: World) -> None:
    await world.board()
    await world.services.limits.set(world.admin.user, "sort", RateLimit(RANKED, 0))
    await world.services.limits.remove(world.admin.user, "sort", RANKED)
    assert "sort" == (await world.submit()).board


async def test_limits_are_listed(limited: World) -> None:
    assert [RateLimit(RANKED, 2)] == await limited.services.limits.list_limits(None, "sort")


async def test_removing_what_is_not_there_is_reported(world: World) -> None:
    await world.board()
    with pytest.raises(NotFound):
        await world.services.limits.remove(world.admin.user, "sort", RANKED)


async def test_only_organisers_limit(world: World) -> None:
    await world.board()
    with pytest.raises(NotAllowed):
        await world.services.limits.set(world.ada.user, "sort", RateLimit(RANKED, 1))


@pytest.mark.parametrize("number", [-1, 1_000_001, 2**40])
async def test_unusable_limits_are_refused(limited: World, number: int) -> None:
    with pytest.raises(UserError, match="a number from 0 to 1,000,000"):
        await limited.services.limits.set(limited.admin.user, "sort", RateLimit(RANKED, number))


@pytest.mark.parametrize("number", [0, 1_000_000])
async def test_the_least_and_the_largest_limit_are_set(limited: World, number: int) -> None:
    set_ = limited.services.limits
    await set_.set(limited.admin.user, "sort", RateLimit(RANKED, number))
    assert [RateLimit(RANKED, number)] == await set_.list_limits(None, "sort")


async def test_a_limit_that_is_set_or_removed_is_in_the_log(limited: World) -> None:
    await limited.services.limits.remove(limited.admin.user, "sort", RANKED)
    log = await limited.services.audit.list_entries(limited.admin.user, action="board.limit")
    assert [("board:sort", None), ("board:sort", 2)] == [
        (entry.subject, entry.detail["max_per_hour"]) for entry in log
    ]


async def tries(world: World, author: User, count: int) -> int:
    """How many of so many submissions at once are taken."""

    async def one() -> Submission | None:
        try:
            return await world.submit(author)
        except TooManyRequests:
            return None

    return sum(taken is not None for taken in await asyncio.gather(*(one() for _ in range(count))))


async def test_200_at_once_are_counted_exactly(world: World) -> None:
    await world.board()
    await world.services.limits.set(world.admin.user, "sort", RateLimit(RANKED, 7))
    taken = await asyncio.gather(
        tries(world, world.ada.user, 100), tries(world, world.bob.user, 100)
    )
    assert (7, 7) == tuple(taken)
