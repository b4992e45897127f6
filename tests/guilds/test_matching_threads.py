"""Boards and the threads that a guild has already."""

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
