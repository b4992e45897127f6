"""Help, mistakes and what shells offer are typer's own, to the byte, whatever is left out."""

import json
import subprocess
import sys

import pytest

from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import COMMANDS

_USUAL = """
import kernelbot.cli.tree as tree
tree._spare_flags = lambda *_: None
"""
_AS_STARTED = """
from kernelbot.cli.loading import load_when_used
load_when_used("")
import kernelbot.cli.tree as tree
"""
_SHOW = """
import contextlib, io, json, os, sys
from kernelbot.cli.declaring import Exit
shown = {}
for words in json.load(sys.stdin):
    if "_KERNELBOT_COMPLETE" in os.environ:
        os.environ["_TYPER_COMPLETE_ARGS"], words = " ".join(words), []
        name = os.environ["_TYPER_COMPLETE_ARGS"]
    else:
        name = " ".join(words)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            tree.perform(words, as_json=False)
            code = 0
        except Exit as ended:
            code = ended.exit_code
        except SystemExit as ended:
            code = ended.code
    shown[name] = (code, said.getvalue())
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
        # Click has the names of its help in a set, whose order is that of hashes.
        env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", **environ},
    )
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("environ", "each"),
    [
        pytest.param({}, 1, id="usual", marks=pytest.mark.exhaustive),
        pytest.param({"COLUMNS": "53", "FORCE_COLOR": "1"}, 4, id="narrow-coloured"),
    ],
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


TYPED = (
    *("", "bo", "board", "board ", "board sh", "board show", "board show --", "submission show -"),
    *(
        "--",
        "board --",
        "bord ",
        "bord sh",
        "dev ",
        "submit --mode ",
        "submit --mode=",
        "--version b",
    ),
)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_is_offered_what_typer_offers(shell: str) -> None:
    asked = [["kernelbot", typed] for typed in TYPED]
    variables = {
        "_KERNELBOT_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    usual, found = shown(_USUAL, asked, variables), shown(_AS_STARTED, asked, variables)
    assert len(TYPED) == len(found)
    assert "whoami" in str(found["kernelbot "])
    assert "show" in str(found["kernelbot board sh"])
    assert usual == found
