"""Following boards and authors: nothing is shown that the follower can't see."""

import asyncio

import pytest

from kernelbot.accounts.model import AuthorPage
from kernelbot.domain.errors import Conflict, NotFound
from kernelbot.ranking.following import service
from kernelbot.ranking.following import store as follows
from tests.ranking.authors.test_service import closed
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.ranked import ranked
from tests.support.world import World

pytestmark = pytest.mark.each_run(
    "test_news_are_records_of_boards_and_scores_of_authors",
    "test_it_ends_with_unfollowing_and_twice_is_once",
)


async def test_news_are_records_of_boards_and_scores_of_authors(world: World) -> None:
    await world.board("watched")
    await world.board()
    ask, bob = world.services.following, world.bob.user
    await ranked(world, 2e-3)
    await ranked(world, 3e-3)
    await ranked(world, 9e-3, author=world.admin.user, board="watched")
    await ask.follow_board(bob, "watched")
    await ask.follow_author(bob, world.ada.user.id)
    found = await ask.get(bob)
    assert (("watched",), ["ada"]) == (found.boards, [one.name for one in found.authors])
    assert [("root", 9e-3, True), ("ada", 3e-3, False), ("ada", 2e-3, False)] == [
        (one.author, one.score_s, one.record) for one in found.news
    ]


async def test_what_is_both_is_there_once_as_a_record(world: World) -> None:
    await world.board()
    await ranked(world, 2e-3)
    ask, bob = world.services.following, world.bob.user
    await ask.follow_board(bob, "sort")
    await ask.follow_author(bob, world.ada.user.id)
    assert [True] == [one.record for one in (await ask.get(bob)).news]


async def test_it_ends_with_unfollowing_and_twice_is_once(world: World) -> None:
    await world.board()
    await ranked(world, 2e-3)
    ask, bob, ada = world.services.following, world.bob.user, world.ada.user
    for _ in range(2):
        await ask.follow_board(bob, "SORT")
        await ask.follow_author(bob, ada.id)
    assert (1, 1) == (len((await ask.get(bob)).boards), len((await ask.get(bob)).authors))
    for _ in range(2):
        await ask.unfollow_board(bob, "sort")
        await ask.unfollow_author(bob, ada.id)
    assert ((), (), ()) == tuple(vars(await ask.get(bob)).values())


async def test_what_cant_be_seen_cant_be_followed(world: World) -> None:
    await world.board()
    await ranked(world, 2e-3)
    await closed(world)
    ask, bob = world.services.following, world.bob.user
    with pytest.raises(NotFound):
        await ask.follow_board(bob, "sort")
    with pytest.raises(NotFound):
        await ask.follow_author(bob, world.ada.user.id)
    with pytest.raises(Conflict):
        await ask.follow_author(bob, bob.id)


async def test_what_is_closed_or_private_later_is_left_out(world: World) -> None:
    await world.board()
    await world.board("other")
    await ranked(world, 2e-3)
    await ranked(world, 2e-3, board="other")
    ask, bob, ada = world.services.following, world.bob.user, world.ada.user
    await ask.follow_board(bob, "sort")
    await ask.follow_author(bob, ada.id)
    await closed(world)
    after_closing = await ask.get(bob)
    await world.services.users.set_author_page(ada, AuthorPage(private=True))
    after_both = await ask.get(bob)
    assert ((), ["other"]) == (after_closing.boards, [one.board for one in after_closing.news])
    assert ((), (), ()) == tuple(vars(after_both).values())


async def test_what_is_closed_later_can_be_followed_no_longer(world: World) -> None:
    await world.board()
    ask, bob = world.services.following, world.bob.user
    await ask.follow_board(bob, "sort")
    await closed(world)
    await ask.unfollow_board(bob, "Sort")
    async with world.database.read() as session:
        assert {"count": 0} == await session.one("SELECT count(*) FROM follows")
    for name in ("sort", "nope", "a\0"):
        with pytest.raises(NotFound):
            await ask.unfollow_board(bob, name)


async def test_nobody_follows_without_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST", 1)
    await world.board()
    await world.board("other")
    await world.services.following.follow_board(world.bob.user, "sort")
    with pytest.raises(Conflict, match="follow one less"):
        await world.services.following.follow_board(world.bob.user, "other")


async def test_of_two_followed_at_once_one_may_be_too_many(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST", 1)
    one, _ = await world.board(), await world.board("other")
    ask, bob = world.services.following, world.bob.user
    async with world.database.write() as session:
        await follows.lock(session, bob.id)
        await follows.follow_board(session, bob.id, one.id)
        following = asyncio.ensure_future(ask.follow_board(bob, "other"))
        await until_there_is(session, WAITS_FOR_A_LOCK)
    with pytest.raises(Conflict, match="follow one less"):
        await following


async def test_what_one_follows_ends_with_the_account(world: World) -> None:
    await world.board()
    await world.services.following.follow_board(world.bob.user, "sort")
    await world.services.deletion.delete_user(world.bob.user, world.bob.user.id, force=True)
    async with world.database.read() as session:
        assert {"count": 0} == await session.one("SELECT count(*) FROM follows")
