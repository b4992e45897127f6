"""Every help is typer's own, to the byte, whatever is loaded for it and left out."""

import json
import subprocess
import sys

import pytest

from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import COMMANDS

_USUAL = """
import kernelbot.cli.tree as tree
tree._spare_groups_flags = lambda *_: None
"""
_AS_STARTED = """
from kernelbot.cli.loading import load_when_used
load_when_used("")
import kernelbot.cli.tree as tree
"""
_SHOW = """
import contextlib, io, json, sys
from kernelbot.cli.declaring import Exit
shown = {}
for words in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            tree.perform(words, as_json=False)
            code = 0
        except Exit as ended:
            code = ended.exit_code
        except SystemExit as ended:
            code = ended.code
    shown[" ".join(words)] = (code, said.getvalue())
print(json.dumps(shown))
"""


def lines(commands: Commands) -> list[list[str]]:
    """All commands and groups, by their words."""
    found: list[list[str]] = [[]]
    for name, one in commands.found.items():
        below = [[]] if isinstance(one, Command) else lines(one)
        found += [[name, *words] for words in below]
    return found


def shown(program: str, asked: list[list[str]], environ: dict[str, str]) -> dict[str, list[object]]:
    done = subprocess.run(
        [sys.executable, "-c", program + _SHOW],
        input=json.dumps(asked),
        capture_output=True,
        check=True,
        text=True,
        env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", **environ},
    )
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("environ", "each"),
    [({}, 1), ({"COLUMNS": "53", "FORCE_COLOR": "1"}, 4)],
    ids=["usual", "narrow-coloured"],
)
def test_every_help_is_as_typer_shows_it(environ: dict[str, str], each: int) -> None:
    asked = [[*words, "--help"] for words in lines(load(COMMANDS))][::each]
    asked += [["board"], ["board", "-h"], ["submission", "diff", "-h"], []]
    usual, found = shown(_USUAL, asked, environ), shown(_AS_STARTED, asked, environ)
    assert len(asked) == len(found)
    assert all("Usage:" in str(text) for _, text in found.values())
    assert usual == found


MISTAKES = (
    ["bord"],
    ["board", "shw"],
    ["board", "show"],
    ["board", "show", "x", "--limt", "3"],
    ["board", "--limit", "3", "show", "x"],
    ["board", "show", "x", "--limit", "many"],
    ["submission", "show", "0"],
    ["dev", "--hlp"],
    ["--versoin", "board", "show"],
    ["--version", "board", "show", "--help"],
    ["board", "--help", "show"],
    ["board", "--version"],
)


def test_every_mistake_is_named_as_typer_names_it() -> None:
    asked = [list(words) for words in MISTAKES]
    assert shown(_USUAL, asked, {}) == shown(_AS_STARTED, asked, {})
