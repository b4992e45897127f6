"""The devices of a board, as a sync puts them."""

from kernelbot.boards.sync import store as sync
from kernelbot.store.database import WriteSession
from tests.support.world import World


async def put_devices(
    session: WriteSession, world: World, *devices: str, board: str = "sort"
) -> None:
    """The board's devices are these from now on, once the transaction is committed."""
    found = await world.services.boards.get(None, board)
    await sync.lock_rankings(session, [found.id])
    await sync.update(
        session,
        found.id,
        problem_version_id=found.problem_version_id,
        description=found.description,
        deadline=found.deadline,
        devices=devices,
    )


async def offer(world: World, *devices: str, board: str = "sort") -> None:
    """As `put_devices`, and committed."""
    async with world.database.write() as session:
        await put_devices(session, world, *devices, board=board)
