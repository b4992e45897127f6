"""`kernelbot setup`."""

import re
import shlex
from pathlib import Path

import pytest

from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.catalog.skeleton import new_problem
from kernelbot.cli.setup import folder_of
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Lang
from tests.support.live import LiveServer
from tests.support.terminal import Shell
from tests.test_documented_commands import complaint

COMMANDS = re.compile(r"^kernelbot .+$", re.MULTILINE)


@pytest.fixture
def board(live: LiveServer) -> str:
    live.call(live.world.board("a.board"))
    limit = RateLimit(LimitCategory.LEADERBOARD, 7)
    live.call(live.world.services.limits.set(live.world.admin.user, "a.board", limit))
    return "a.board"


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    new_problem(tmp_path / "it's sums", "sums", Lang.PY)
    return tmp_path / "it's sums"


def test_a_board_s_folder_has_starter_problem_and_guide(
    ada: Shell, board: str, live: LiveServer, tmp_path: Path
) -> None:
    said = ada("setup", "--board", board)
    folder = tmp_path / board
    guide = (folder / "AGENTS.md").read_text()
    assert (0, ["AGENTS.md", "problem.md", "submission.py"]) == (
        said.code,
        sorted(path.name for path in folder.iterdir()),
    ), said
    assert f"kernelbot submit submission.py --board a.board --url {live.url} --mode test" in guide
    assert "Ranked submissions: 7 an hour." in guide
    assert (
        ada("board", "show", board, "--statement", "--json").document["description"].strip()
        == (folder / "problem.md").read_text().strip()
    )


def test_what_a_guide_says_can_be_typed(
    ada: Shell, board: str, problem: Path, tmp_path: Path
) -> None:
    ada("setup", "one", "--board", board)
    ada("setup", "two", "--from", problem)
    for folder in ("one", "two"):
        lines = COMMANDS.findall((tmp_path / folder / "AGENTS.md").read_text())
        assert 7 < len(lines)
        assert [] == [said for said in map(complaint, lines) if said]


def test_the_first_command_of_a_problem_s_guide_judges_the_starter(
    shell: Shell, problem: Path, tmp_path: Path
) -> None:
    said = shell("setup", "mine", "--from", problem, "--json")
    assert [str(Path("mine") / name) for name in ("submission.py", "AGENTS.md", "problem.md")] == (
        said.document["files"]
    )
    first = COMMANDS.findall((tmp_path / "mine" / "AGENTS.md").read_text())[0]
    there = Shell(tmp_path / "mine", {})
    assert 0 == there(*shlex.split(first)[1:]).code


def test_nothing_is_overwritten_and_nothing_else_is_written(
    shell: Shell, problem: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "problem.md").write_text("my notes")
    said = shell("setup", "mine", "--from", problem)
    assert (2, ["problem.md"], "my notes") == (
        said.code,
        [path.name for path in (tmp_path / "mine").iterdir()],
        (tmp_path / "mine" / "problem.md").read_text(),
    )
    assert "nothing was written" in said.err


def test_a_folder_with_other_files_is_used(shell: Shell, problem: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    assert 0 == shell("setup", ".", "--from", problem).code
    assert (tmp_path / "AGENTS.md").exists()


@pytest.mark.parametrize("name", ["..", ".", ".git", "", "x/..", "/"])
def test_no_name_that_a_server_says_leads_to_another_folder(name: str) -> None:
    with pytest.raises(UserError):
        folder_of(name)


def test_one_of_both_is_named(shell: Shell, problem: Path) -> None:
    for more in ((), ("--board", "x", "--from", problem)):
        assert "Name a board" in shell("setup", *more).err


def test_a_board_that_is_not_there_is_suggested(ada: Shell, board: str) -> None:
    said = ada("setup", "--board", "a.bord")
    assert (2, True) == (said.code, "Did you mean a.board?" in said.err)


def test_a_file_in_the_folder_s_place_is_a_sentence(
    shell: Shell, problem: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("")
    said = shell("setup", "mine", "--from", problem)
    assert (2, True, False) == (said.code, "can't be written" in said.err, "Traceback" in said.err)
