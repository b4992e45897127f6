"""Submissions that are dueled, and how a duel may end."""

from kernelbot.duels.model import Duel
from tests.support.ranked import ranked
from tests.support.world import World

FASTER = (0.99, 0.985, 0.995)
SAME = (0.998, 0.991, 1.004)
SLOWER = (1.01, 1.006, 1.014)
WIDE = 0.1
"""The relative error of scores that overlap."""


async def all_duels(world: World) -> list[Duel]:
    return await world.services.duels.list_duels(None, "sort")


async def two_of_ada(world: World) -> tuple[int, int]:
    """The second one's median is below the first one's, within its interval."""
    await world.board()
    first = await ranked(world, 1.0, relative_error=WIDE)
    return first, await ranked(world, 0.95, relative_error=WIDE)


async def neighbours(world: World) -> tuple[int, int]:
    """Ada's is ahead of Bob's, within its interval."""
    await world.board()
    ada = await ranked(world, 1.0, relative_error=WIDE)
    return ada, await ranked(world, 1.05, author=world.bob.user, relative_error=WIDE)
