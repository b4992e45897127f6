"""The first of every board, in one list."""

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from tests.support.ranked import ranked
from tests.support.world import World


async def test_a_board_is_there_once_with_its_first_device(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    for device in ("CPU", "H100"):
        await ranked(world, 1.0, device=device)
    found = await world.services.standings.podiums(None)
    assert [("sort", "CPU", ["ada"])] == [
        (one.board.name, one.page.device, [row.author for row in one.page.standings])
        for one in found
    ]


async def test_a_closed_board_is_there_for_its_organisers(world: World) -> None:
    await world.board()
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await world.services.boards.edit(world.admin.user, "sort", edit)
    viewers = (None, world.bob.user, world.admin.user)
    found = [len(await world.services.standings.podiums(viewer)) for viewer in viewers]
    assert [0, 0, 1] == found
