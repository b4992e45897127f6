"""Boards and the threads that a guild has already."""

import asyncio

import pytest

from kernelbot.domain.errors import NotAllowed
from kernelbot.guilds.model import GuildChannels
from tests.support.world import World

HERE = 1


async def test_a_board_gets_the_oldest_thread_of_its_name(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    await world.board("scan")
    found = await world.services.announcements.match_threads(
        world.admin.user, HERE, {7: "sort", 5: "sort", 9: "other"}, open_missing=False
    )
    assert {"sort": 5, "scan": None} == {one.board: one.thread_id for one in found}


async def test_a_thread_that_is_gone_is_none(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    match = world.services.announcements.match_threads
    await match(world.admin.user, HERE, {5: "sort"}, open_missing=False)
    (found,) = await match(world.admin.user, HERE, {9: "other"}, open_missing=False)
    assert found.thread_id is None


async def test_boards_that_run_and_have_no_thread_get_one_soon(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    for name in ("sort", "scan", "over"):
        await world.board(name)
    async with world.database.write() as session:
        await session.do("DELETE FROM announcements")
        await session.do("UPDATE leaderboards SET deadline = now() WHERE name = 'over'")
    announcements = world.services.announcements
    there = {5: "sort"}
    await announcements.match_threads(world.admin.user, HERE, there, open_missing=False)
    assert [] == await announcements.claim([HERE])
    async with announcements.following() as waker:
        found = await announcements.match_threads(world.admin.user, HERE, there, open_missing=True)
        async with asyncio.timeout(60):
            await waker.announced()
    assert {"sort": 5, "scan": None, "over": None} == {one.board: one.thread_id for one in found}
    assert ["scan"] == [one.board for one in await announcements.claim([HERE])]


async def test_threads_are_matched_by_admins(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.announcements.match_threads(
            world.ada.user, HERE, {}, open_missing=False
        )
