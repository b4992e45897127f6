"""Help, mistakes and what shells offer are typer's own, to the byte, whatever is left out."""

import json
import subprocess
import sys

import pytest

from kernelbot.cli.declaring import Command, Commands, load
from kernelbot.cli.names import COMMANDS
from tests.support.exhaustive import cases

_USUAL = """
import kernelbot.cli.tree as tree
tree.read_plainly = lambda _: None
tree._shown = tree._for_typer
perform = tree.perform
"""
_AS_STARTED = """
from kernelbot.cli.loading import load_when_used
load_when_used([])
from kernelbot.cli.app import _perform as perform
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
            perform(words, as_json=False)
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
        pytest.param({"COLUMNS": "53", "FORCE_COLOR": "1"}, 12, id="narrow-coloured"),
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
    ["board", "show", "x", "y"],
    ["board", "show", "x", "--limt", "3"],
    ["board", "--limit", "3", "show", "x"],
    ["board", "show", "x", "--limit", "many"],
    ["board", "show", "x", "--limit", "many", "y"],
    ["board", "show", "x", "--limit", "101"],
    ["board", "show", "x", "--limit", "1_0", "y"],
    ["board", "show", "x", "--limit"],
    ["board", "show", "x", "--limit", "5.5"],
    ["submission", "show", "0"],
    ["submission", "show", "-1"],
    ["submission", "show", ""],
    ["submit"],
    ["submit", "x", "y", "--mode", "test", "--device", "CPU"],
    ["submit", "x", "--mode", "tst"],
    ["submit", "x", "--mode", "a b"],
    ["submit", "x", "--mode", ""],
    ["submit", "x", "--mode=profile", "--json=1"],
    ["run", "a", "b", "c"],
    ["run", "a", "b", "--sandbox", "yes"],
    ["dev", "--hlp"],
    ["--versoin", "board", "show"],
    ["--version", "board", "show", "--help"],
    ["board", "--help", "show"],
    ["board", "--version"],
)


@pytest.mark.parametrize(
    "environ",
    cases([{}, {"COLUMNS": "61", "FORCE_COLOR": "1"}], always=[{}]),
    ids=["usual", "narrow-coloured"],
)
def test_every_kind_of_mistake_is_named_as_typer_names_it(environ: dict[str, str]) -> None:
    asked = [list(words) for words in MISTAKES]
    usual, found = shown(_USUAL, asked, environ), shown(_AS_STARTED, asked, environ)
    assert len(MISTAKES) == len(found)
    assert usual == found


@pytest.mark.parametrize(
    "each", [pytest.param(1, id="all", marks=pytest.mark.exhaustive), pytest.param(15, id="some")]
)
def test_each_command_names_an_option_that_it_lacks_as_typer_does(each: int) -> None:
    asked = [[*words, "--limt"] for words in lines(load(COMMANDS))][::each]
    usual, found = shown(_USUAL, asked, {}), shown(_AS_STARTED, asked, {})
    assert all(code == 2 and "No such option" in str(text) for code, text in found.values())
    assert usual == found


TYPED = (
    *("", "bo", "board", "board ", "board sh", "board show", "board show --", "submission show -"),
    *("--", "board --", "bord ", "bord sh", "dev ", "submit --mode ", "submit --mode="),
    *("submit --mode t", "submit  x", "user ", "run x y --", "token create --", "'bo", "zzz"),
    "--version b",
)


@pytest.mark.exhaustive  # each run has test_every_kind_of_mistake_is_named_as_typer_names_it
@pytest.mark.parametrize("columns", cases(["", "41", "200"], always=[""]))
@pytest.mark.parametrize("shell", cases(["zsh", "fish"], always=["zsh"]))
def test_a_shell_is_offered_what_typer_offers(shell: str, columns: str) -> None:
    asked = [["kernelbot", typed] for typed in TYPED]
    variables = {
        "_KERNELBOT_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COLUMNS": columns,
    }
    usual, found = shown(_USUAL, asked, variables), shown(_AS_STARTED, asked, variables)
    assert len(TYPED) == len(found)
    assert "whoami" in str(found["kernelbot "])
    assert "show" in str(found["kernelbot board sh"])
    assert usual == found


@pytest.mark.exhaustive  # each run has test_every_kind_of_mistake_is_named_as_typer_names_it
def test_fish_is_told_whether_there_is_anything_to_offer() -> None:
    asked = [["kernelbot", typed] for typed in TYPED]
    variables = {"_KERNELBOT_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "is-args"}
    usual, found = shown(_USUAL, asked, variables), shown(_AS_STARTED, asked, variables)
    assert [[0, ""], [1, ""]] == [found["kernelbot bo"], found["kernelbot zzz"]]
    assert usual == found
