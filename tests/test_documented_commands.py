"""What the documentation tells people to type: the tutorial is done as it is written, and every
other command of ours exists, with the options that it is given."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import typer.core
import typer.main
from typer.exceptions import TyperException

from kernelbot.cli.tree import GroupWithDefault, command_tree
from tests.support.terminal import Shell

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial" / "first-kernel.md"
PAGES = sorted(
    page for folder in ("tutorial", "how-to", "vendors") for page in (DOCS / folder).glob("*.md")
)
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
IN_TEXT = re.compile(r"`(kernelbot [^`]+)`")
OURS = re.compile(r"(?:^\s*|[|;&]\s*)(?:[A-Z_]+=\S+\s+)*(kernelbot [a-z].*)")
ENDS = {"||", "|", "&&", ";", ">", "<", "&"}
SET_UP = {"make demo", "source .venv/bin/activate"}
"""Done already, if these tests run."""
EXAMPLES = {"ID": "1", "N": "1", "DAYS": "1"}
"""What stands in the documentation for a number."""
TREE = typer.main.get_command(command_tree())
SAMPLING = """\
[sampling]
wall_cap_s = 0.3
patience_s = 3
min_total_s = 0.01
widest_relative_ci = 1.0
"""
"""Where nobody reads the numbers: on a busy machine a ranked run would be measured four times."""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Each block of code with its language."""
    return [(kind, text) for _, kind, text in BLOCK.findall(page.read_text())]


def commands(page: Path) -> Iterator[str]:
    """What the page calls of ours, in blocks and in sentences, a line each."""
    for kind, text in blocks(page):
        if kind == "sh":
            lines = text.replace("\\\n", " ").splitlines()
            yield from (found[1] for found in map(OURS.search, lines) if found)
    yield from IN_TEXT.findall(page.read_text())


def words_of(line: str) -> list[str]:
    """Its words up to what a shell would do next, without `kernelbot`."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)[1:]
    end = next((place for place, word in enumerate(words) if word in ENDS), len(words))
    return [EXAMPLES.get(word, word) for word in words[:end]]


def complaint(line: str) -> str | None:
    """What is wrong with a command; None: nothing. A name of a group or command alone is fine."""
    command, words = TREE, words_of(line)
    while isinstance(command, typer.core.TyperGroup) and words:
        name = words.pop(0)
        if name.startswith("-"):
            return None
        if name not in command.commands:
            if not isinstance(command, GroupWithDefault):
                return f"{line}: no command {name}"
            name, words = command.default, [name, *words]
        command = command.commands[name]
    if not words:
        return None
    try:
        command.make_context("kernelbot", words)
    except TyperException as error:
        return f"{line}: {error}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_exists(page: Path) -> None:
    assert [] == [said for said in map(complaint, commands(page)) if said]


def test_a_command_that_does_not_exist_is_noticed() -> None:
    lines = ("kernelbot nope", "kernelbot board nope x", "kernelbot submit a.py --nope | cat")
    assert [True] * 3 == [complaint(line) is not None for line in lines]


@contextmanager
def shell_in_a_folder() -> Iterator[Shell]:
    """A folder with the examples, in which sampling is short."""
    # Not pytest's folder: the embedded database's user must be able to reach it.
    with tempfile.TemporaryDirectory(prefix="kernelbot-test-") as folder:
        home = Path(folder)
        (home / "kernelbot.toml").write_text(SAMPLING)
        (home / "examples").symlink_to(ROOT / "examples")
        yield Shell(home, {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})


@pytest.fixture
def shell() -> Iterator[Shell]:
    """A folder as a reader has it who begins."""
    with shell_in_a_folder() as shell:
        yield shell


@contextmanager
def running_server(shell: Shell) -> Iterator[None]:
    """The tutorial's server, on a port that is free; ended in the end."""
    with (shell.home / "log").open("wb") as log:
        server = shell.serve("serve", "--port", "0", "--data", "data", log=log)
    try:
        while not list((shell.home / ".local/state/kernelbot/servers").glob("*.json")):
            assert server.poll() is None, (shell.home / "log").read_text()
            time.sleep(0.05)
        yield
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(timeout=60)
    assert 0 == code


def typed(shell: Shell, line: str) -> int:
    """Type a line of the page, and return its exit code."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=shell.home,
        env=shell.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return done.returncode


@pytest.mark.timeout(600)  # some ten seconds of a processor, which others may share
@pytest.mark.exhaustive
def test_the_tutorial_does_what_it_says(shell: Shell) -> None:
    codes: dict[str, list[int]] = {}
    with ExitStack() as running:
        for kind, text in blocks(TUTORIAL):
            if kind == "python":
                (shell.home / "mine.py").write_text(text)
                continue
            for line in text.splitlines():
                if line == "kernelbot serve":
                    running.enter_context(running_server(shell))
                elif line not in SET_UP:
                    codes.setdefault(line, []).append(typed(shell, line))
    assert {
        "ls examples/sort_np": [0],
        "kernelbot run examples/sort_np mine.py --mode test": [1],
        "kernelbot run examples/sort_np mine.py --mode leaderboard": [0],
        "kernelbot board create --from examples/sort_np": [0],
        "kernelbot submit mine.py --board sort_np --mode leaderboard": [0, 0],
        "kernelbot board show sort_np": [0],
    } == codes
