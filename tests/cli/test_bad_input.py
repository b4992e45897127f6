"""Invalid arguments: always exit code 2 and a sentence, never a traceback."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.protocol import Lang
from tests.support.live import LiveServer
from tests.support.terminal import Shell

NOT_UTF_8 = b"a\xffb".decode(errors="surrogateescape")
LONG = "A" * 5000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("user", "create", LONG), "name: must have at most 200 characters."),
        (("user", "create", NOT_UTF_8), "name: must be text in UTF-8."),
        (("token", "create", ""), "name: must have at least 1 character."),
        (("pause", LONG), "reason: must have at most 500 characters."),
        (("join", ""), "code: must have at least 1 character."),
        (("submission", "release", "1", "-r", " "), "reason: is blank"),
        (("board", "show", ""), "'' can't be a name."),
        (("board", "delete", ".."), "'..' can't be a name."),
        (("board", "show", NOT_UTF_8), r"'a\udcffb' isn't text in UTF-8."),
        (("audit", "--subject", NOT_UTF_8), "isn't text in UTF-8."),
        (("sync", LONG), "The path is too long."),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_what_no_server_takes(shell: Shell, arguments: tuple[str, ...], told: str) -> None:
    said = shell(*arguments)
    assert (2, "", True) == (said.code, said.out, said.err.startswith("Error: ")), said.err
    assert told in said.err


@pytest.mark.parametrize("number", ["1000001", "9" * 5000, "-1", "1e3"])
def test_a_number_out_of_bounds(live: LiveServer, admin: Shell, number: str) -> None:
    live.call(live.world.board())
    said = admin("board", "limit", "sort", "--ranked=5", f"--test={number}")
    expected = " isn't a limit.\nWrite a number from 0 to 1000000, or none.\n"
    assert (2, True) == (said.code, said.err.endswith(expected)), said.err
    assert "leaderboard: any number" in admin("board", "limit", "sort").out


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"KERNELBOT_TOKEN": "t\u00e9"}, "This can't be a token"),
        ({"KERNELBOT_TOKEN": "a\nb"}, "This can't be a token"),
        ({"KERNELBOT_URL": "http://[::1"}, "has no host or an invalid port"),
        ({"KERNELBOT_URL": "http://h:99999"}, "has no host or an invalid port"),
        ({"KERNELBOT_URL": "https://:80"}, "has no host or an invalid port"),
    ],
)
def test_an_environment_that_means_no_server(
    tmp_path: Path, environment: dict[str, str], told: str
) -> None:
    said = Shell(tmp_path, environment)("board", "list")
    assert (2, "", True) == (said.code, said.out, told in said.err), said.err


def test_a_problem_s_folder_that_cannot_be_made(shell: Shell) -> None:
    said = shell("problem", "new", "sums", "--in", "/proc")
    assert (2, "Error: /proc/sums can't be written: No such file or directory.\n") == (
        said.code,
        said.err,
    )


def test_a_name_moves_no_cursor(shell: Shell) -> None:
    said = shell("submit", "\x1b[2Jx.py", "--board", "sort")
    expected = "Error: \\x1b[2Jx.py can't be read: No such file or directory.\n"
    assert (2, expected) == (said.code, said.err)


def test_a_problem_s_words_move_no_cursor(shell: Shell, tmp_path: Path) -> None:
    new_problem(tmp_path / "sums", "sums", Lang.PY)
    task = tmp_path / "sums" / "task.yml"
    task.write_text(task.read_text() + '\n"\\e[2J": 1\n')
    said = shell("problem", "check", "sums", "--no-run")
    assert (0, True, False) == (said.code, "\\x1b[2J: unknown key" in said.out, "\x1b" in said.out)


@pytest.mark.parametrize("command", [("problem", "check", "."), ("run", ".", "x.py")])
def test_a_folder_that_is_gone(tmp_path: Path, command: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    program = [sys.executable, "-m", "kernelbot", *command]
    line = f"mkdir {gone}; cd {gone}; rmdir {gone}; exec {shlex.join(program)}"
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run(
        ["/bin/sh", "-c", line], env=environment, capture_output=True, text=True, check=False
    )
    told = "Error: The folder that this command was called in has been deleted.\n"
    assert (2, "", told) == (said.returncode, said.stdout, said.stderr[: len(told)])
