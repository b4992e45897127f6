"""What a sync locks of the boards that it changes, beside those who change their rankings."""

import asyncio
from pathlib import Path

import psycopg

from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.problem_sets import write_competition, write_problem
from tests.support.world import World


async def _synced(world: World, root: Path, *, size: int) -> list[str]:
    for name in ("one", "two"):
        write_problem(root, name, size=size)
    write_competition(root, "one", "two")
    outcome = await world.services.sync.from_folder(world.admin.user, root)
    return [item.action.value for item in outcome.items]


async def test_rankings_of_all_boards_are_locked_before_one_is_changed(
    world: World, tmp_path: Path
) -> None:
    """Whoever bans somebody has a ranking, and comes to a device that another board has lost."""
    await _synced(world, tmp_path, size=10)
    ranking = "SELECT lock_ranking(id, %s) FROM leaderboards WHERE name = %s"
    async with await psycopg.AsyncConnection.connect(world.database.url) as other:
        [(first,), (last,)] = await (
            await other.execute("SELECT name FROM leaderboards ORDER BY id")
        ).fetchall()
        await other.execute(ranking, ("CPU", last))
        syncing = asyncio.create_task(_synced(world, tmp_path, size=11))
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
        await other.execute(ranking, ("H100", first))
    assert ["update", "update"] == await syncing
