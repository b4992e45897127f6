"""Ranks that are known aren't counted again."""

from kernelbot.ranking.places import RankCache
from kernelbot.submissions import store as submissions
from tests.support.ranked import ranked
from tests.support.world import World


async def test_a_rank_is_counted_once_for_each_version_of_its_ranking(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0)
    cache = RankCache()
    async with world.database.read() as session:
        (before,) = await submissions.entries(session, [number])
        first = await cache.get_ranked(session, before.bests)
    async with world.database.write() as session:
        await session.do("DELETE FROM standings")
        kept = await cache.get_ranked(session, before.bests)
        anew = await RankCache().get_ranked(session, before.bests)
    assert ([1], first, []) == ([one.rank.number for one in first], kept, anew)
