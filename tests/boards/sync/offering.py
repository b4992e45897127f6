"""The devices of the board `sort`, as a sync puts them."""

from kernelbot.boards.sync import store as sync
from kernelbot.store.database import WriteSession
from tests.support.world import World


async def put_devices(session: WriteSession, world: World, *devices: str) -> None:
    """The board's devices are these from now on, once the transaction is committed."""
    board = await world.services.boards.get(None, "sort")
    await sync.update(
        session,
        board.id,
        problem_version_id=board.problem_version_id,
        description=board.description,
        deadline=board.deadline,
        devices=devices,
    )


async def offer(world: World, *devices: str) -> None:
    """As `put_devices`, and committed."""
    async with world.database.write() as session:
        await put_devices(session, world, *devices)
