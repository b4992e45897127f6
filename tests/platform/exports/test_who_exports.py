"""Nobody learns by an export that a board is there which they can't see."""

from pathlib import Path

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.platform.exports.model import ExportChoice
from tests.support.world import World


@pytest.mark.parametrize(
    ("visibility", "expected"), [(Visibility.CLOSED, NotFound), (Visibility.PUBLIC, NotAllowed)]
)
async def test_a_competitor_exports_no_board(
    world: World, tmp_path: Path, visibility: Visibility, expected: type[Exception]
) -> None:
    board = await world.board()
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(visibility=visibility))
    for choice in (ExportChoice(names=("sort",)), ExportChoice(ids=(board.id,))):
        with pytest.raises(expected):
            await world.services.exports.to_file(world.ada.user, choice, tmp_path / "x")
