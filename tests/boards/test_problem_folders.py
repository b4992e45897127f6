"""Boards that are opened from a folder on the server's disk."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.problem_folders import ProblemFolders
from kernelbot.domain.errors import NotAllowed, UserError
from tests.support.problem_sets import write_problem
from tests.support.world import World


@pytest.fixture
def folders(world: World, tmp_path: Path) -> ProblemFolders:
    """Of two problems, beside folders that are none."""
    for name in ("two", "one", "-no", "n" * 60):
        write_problem(tmp_path / "problems", name)
    with (tmp_path / "problems/one/task.yml").open("a") as file:
        file.write("gpus: [CPU]\n")
    write_problem(tmp_path, "outside")
    (tmp_path / "problems" / "empty").mkdir()
    return ProblemFolders(world.services.boards, tmp_path / "problems")


async def test_folders_with_a_problem_are_listed_by_name(folders: ProblemFolders) -> None:
    assert ["one", "two"] == await folders.names()


async def test_a_board_of_a_folder_is_open_for_a_year(
    folders: ProblemFolders, world: World
) -> None:
    begun = datetime.now(UTC)
    board = await folders.open_board(world.admin.user, "one", Visibility.CLOSED)
    assert ("one-dev", Visibility.CLOSED) == (board.name, board.visibility)
    assert board.deadline is not None
    assert timedelta(days=365) <= board.deadline - begun < timedelta(days=365, minutes=2)


@pytest.mark.parametrize("name", ["none", "empty", "../outside", "-no", "n" * 60, ""])
async def test_what_is_no_folder_of_a_problem_is_refused(
    folders: ProblemFolders, world: World, name: str
) -> None:
    with pytest.raises(UserError, match=f"^There is no problem folder named '{name}'.$"):
        await folders.open_board(world.admin.user, name)


async def test_competitors_open_none(folders: ProblemFolders, world: World) -> None:
    with pytest.raises(NotAllowed, match=r"^Only creators and admins open boards\.$"):
        await folders.open_board(world.ada.user, "none")
