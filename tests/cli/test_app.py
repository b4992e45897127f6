import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import typer.core
import typer.main

from kernelbot.cli.app import run
from kernelbot.cli.names import AUDIENCES, COMMANDS
from kernelbot.cli.tree import command_tree
from tests.support.exhaustive import cases
from tests.support.nobody import as_nobody
from tests.support.terminal import COMMAND, Shell


def test_each_module_registers_what_the_table_says() -> None:
    """By name, and what the first paragraph of its help is."""
    registered = {}
    for module in COMMANDS:
        group = typer.main.get_command(command_tree([module]))
        assert isinstance(group, typer.core.TyperGroup)
        registered[module] = {
            name: " ".join((command.help or "").split("\n\n")[0].split())
            for name, command in group.commands.items()
        }
    assert COMMANDS == registered


def _commands(command: object, path: str) -> Iterator[tuple[str, typer.core.TyperCommand]]:
    if isinstance(command, typer.core.TyperGroup):
        for name, one in command.commands.items():
            yield from _commands(one, f"{path} {name}".strip())
    else:
        assert isinstance(command, typer.core.TyperCommand)
        yield path, command


def test_every_command_but_two_servers_prints_json() -> None:
    found = _commands(typer.main.get_command(command_tree()), "")
    without = [path for path, one in found if not any("--json" in p.opts for p in one.params)]
    assert ["env serve", "mcp"] == sorted(without)


@pytest.mark.parametrize(
    ("arguments", "detail", "hint"),
    [
        (
            ("problem", "new", "a", "--lang", "foo"),
            "Invalid value for '--lang': 'foo' is not one of",
            "`kernelbot problem new --help` explains.",
        ),
        (
            ("board", "list", "--limt"),
            "No such option: --limt",
            "`kernelbot board list --help` explains.",
        ),
        (("board", "show"), "Missing argument", "`kernelbot board show --help` explains."),
    ],
)
def test_what_was_not_understood_is_named(
    shell: Shell, arguments: tuple[str, ...], detail: str, hint: str
) -> None:
    said = shell(*arguments, "--json")
    error = said.document["error"]
    assert (2, True, hint) == (said.code, error["detail"].startswith(detail), error["hint"]), error
    assert "Value error" not in shell(*arguments).err


def test_ctrl_c_at_any_moment_of_the_start_gives_no_traceback() -> None:
    """Interrupted while modules are loaded: at the first, and once the commands are."""
    for module in ("kernelbot.cli.app", "kernelbot.cli.judging"):
        hook = (
            "import builtins, os, signal, sys\n"
            "real = builtins.__import__\n"
            "def load(name, *rest, **more):\n"
            f"    if name == {module!r}:\n"
            "        os.kill(os.getpid(), signal.SIGINT)\n"
            "    return real(name, *rest, **more)\n"
            "builtins.__import__ = load\n"
            "import importlib\n"
            "importlib.import_module = lambda name: (load(name), sys.modules[name])[1]\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "from kernelbot.cli import main\n"
            "sys.argv = ['kernelbot', 'run', '--help']\n"
            "main()\n"
        )
        done = subprocess.run([sys.executable, "-c", hook], capture_output=True, check=False)
        assert (b"", True) == (done.stderr, done.returncode in (130, -signal.SIGINT))


@pytest.mark.parametrize("arguments", [["--help"], ["problem", "new", "a", "--json"]])
def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    assert (2, True, False) == (
        done.returncode,
        done.stderr.startswith(b"Error: The disk is full"),
        b"Traceback" in done.stderr,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["problem", "new", "a"],
        ["--help"],
        ["problem", "new", "a", "--json"],
        ["run", "a'; x", "b", "--json"],
        ["problem", "new", "--help"],
        ["problem"],
    ],
    ids=["text", "help", "json", "an error", "a command's help", "a group's help"],
)
def test_a_reader_who_has_gone_ends_a_command_as_a_shell_says_it(
    tmp_path: Path, arguments: list[str]
) -> None:
    """Not with 1, which is that a file was refused."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False
    )
    os.close(writing)
    assert (141, b"") == (done.returncode, done.stderr)


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_command_runs_without_a_stream_that_its_shell_has_closed(
    tmp_path: Path, closed: str
) -> None:
    line = f'exec "$0" "$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", line, *COMMAND, "problem", "new", "a"],
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert (0, b"", True) == (done.returncode, done.stderr, (tmp_path / "a/task.yml").is_file())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_a_folder_that_may_not_be_entered_is_said_in_a_sentence() -> None:
    with TemporaryDirectory() as folder:
        closed = Path(folder, "closed")
        closed.mkdir(mode=0o700)
        Path(folder).chmod(0o755)
        ended = as_nobody(lambda: run(["problem", "check", str(closed / "it")]))
    assert (2, f"Error: {closed / 'it'} can't be reached: access denied.\n") == ended


@pytest.mark.parametrize("size", cases(["0", "99999999999", "\u00b2"], always=["0"]))
def test_a_size_that_no_terminal_has_is_as_none(shell: Shell, size: str) -> None:
    """Rich would show nothing, have no memory, or not read it as a number."""
    said = Shell(shell.home, {"COLUMNS": size, "LINES": size})("sumbit")
    usual = Shell(shell.home, {"COLUMNS": ""})("sumbit")
    assert (usual, True) == (said, "No such command 'sumbit'" in said.err)


def test_each_command_is_in_one_group_of_the_help() -> None:
    grouped = sorted(name for names in AUDIENCES.values() for name in names)
    assert sorted(name for names in COMMANDS.values() for name in names) == grouped


def test_the_help_has_groups_and_shows_no_type_of_flags(shell: Shell) -> None:
    said = shell("--help").out
    assert [True, True, True, False] == [text in said for text in (*AUDIENCES, "bool")]
    assert (0, False) == (shell("submit", "-h").code, "bool" in shell("submit", "-h").out)


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_that_is_asked_for_before_a_command_is_that_of_all(shell: Shell, option: str) -> None:
    assert shell("--help") == shell(option, "submit")
