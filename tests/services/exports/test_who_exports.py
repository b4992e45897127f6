"""Nobody learns by an export that a board is there which they can't see."""

from pathlib import Path

import pytest

from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.export import ExportChoice
from kernelbot.domain.types import Visibility
from kernelbot.services.boards import BoardEdit
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
