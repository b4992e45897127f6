"""The code of submissions in the terminal, against a real server without a worker."""

import shlex
from pathlib import Path

import pytest

from tests.support.live import LiveServer
from tests.support.problems import CORRECT
from tests.support.terminal import Shell


@pytest.fixture(autouse=True)
def sent(live: LiveServer) -> None:
    """Submission 1, with a name that only looks harmless, and 2, of one more line."""
    world = live.world
    live.call(world.board())
    live.call(world.submit(content=CORRECT, file_name="a'; echo x.py"))
    live.call(world.submit(content=CORRECT + b"# more\n"))


def test_code_is_written_under_the_name_that_it_had(ada: Shell, tmp_path: Path) -> None:
    said = ada("submission", "pull", "1", "--json")
    assert (0, "a'; echo x.py") == (said.code, said.document["file"])
    assert CORRECT == (tmp_path / "a'; echo x.py").read_bytes()


def test_what_to_type_next_is_the_name_and_no_command(ada: Shell) -> None:
    said = ada("submission", "pull", "1")
    command = said.out.strip().partition("To send it again: ")[2]
    assert ["kernelbot", "submit", "a'; echo x.py", "--board", "sort"] == shlex.split(command)


def test_no_file_is_replaced_unasked(ada: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("kept")
    said = ada("submission", "pull", "1", "--to", "mine.py")
    assert (2, "kept") == (said.code, (tmp_path / "mine.py").read_text())
    assert 0 == ada("submission", "pull", "1", "--to", "mine.py", "--force").code
    assert CORRECT == (tmp_path / "mine.py").read_bytes()


def test_a_difference_of_two_submissions(ada: Shell) -> None:
    said = ada("submission", "diff", "1", "2")
    assert (0, ["--- submission 1", "+++ submission 2"]) == (said.code, said.out.splitlines()[:2])
    assert "+# more" == said.out.splitlines()[-1]


def test_a_submission_and_the_same_file_here(ada: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(CORRECT)
    said = ada("submission", "diff", "1", "mine.py")
    assert (0, "They are the same.\n") == (said.code, said.out)


@pytest.mark.exhaustive  # each run has test_the_code_of_others_stays_theirs
def test_what_is_neither_a_number_nor_a_file_is_said(ada: Shell) -> None:
    said = ada("submission", "diff", "1", "²")
    assert (2, True) == (said.code, "² can't be read" in said.err)


@pytest.mark.parametrize("command", [("pull", "1"), ("diff", "1", "2")])
def test_the_code_of_others_stays_theirs(
    live: LiveServer, tmp_path: Path, command: tuple[str, ...]
) -> None:
    token = live.world.bob.token
    bob = Shell(tmp_path, {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": token})
    assert (2, []) == (bob("submission", *command).code, list(tmp_path.glob("*.py")))
