"""What editors read of `kernelbot dev`, by what the documentation has them configured with."""

import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.timing.turns import VARIABLE
from kernelbot.protocol import Lang
from tests.support.terminal import COMMAND, Said, Shell, read_until
from tests.support.warm import end_judges
from tests.test_documented_commands import DOCS, blocks

PAGE = DOCS / "how-to" / "editors.md"
PYTHON = "import numpy as np\n\n\ndef custom_kernel(data):\n    return nq.sort(data)\n"
CPP = """\
#include "task.h"

extern "C" void custom_kernel(const float* data, double factor, int64_t size, float* out) {
    out[0] = missing;
}
"""
ESCAPES = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("home")
    new_problem(home / "sums", "sums", Lang.PY)
    new_problem(home / "compiled", "compiled", Lang.CPP)
    (home / "my files").mkdir()
    (home / "my files" / "mine.py").write_text(PYTHON)
    (home / "mine.cpp").write_text(CPP)
    more = {"XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home / "state"), VARIABLE: ""}
    yield Shell(home, more)
    with contextlib.closing(PrivateFolder.open(home / "kernelbot")) as folder:
        end_judges(folder)


@pytest.fixture(scope="module")
def python(shell: Shell) -> Said:
    return shell("dev", "--once", "--lines", "sums", "my files/mine.py")


@pytest.fixture(scope="module")
def compiled(shell: Shell) -> Said:
    return shell("dev", "--once", "--lines", "compiled", "mine.cpp")


def matcher() -> dict[str, Any]:
    """VS Code's, of the page's tasks.json."""
    text = next(text for kind, text in blocks(PAGE) if kind == "json")
    (task,) = json.loads(text)["tasks"]
    found: dict[str, Any] = task["problemMatcher"]
    return found


def problems(said: Said) -> list[dict[str, str | None]]:
    """What VS Code lists."""
    pattern = matcher()["pattern"]
    found = filter(None, map(re.compile(pattern["regexp"]).match, said.out.splitlines()))
    keys = ("file", "line", "column", "severity", "message")
    return [{key: one[pattern[key]] for key in keys} for one in found]


@pytest.mark.exhaustive  # each run has test_vs_code_finds_a_compiler_s_column
def test_vs_code_finds_the_line_of_a_traceback(python: Said) -> None:
    (problem,) = problems(python)
    assert ("my files/mine.py", "5", None, "error", "NameError: name 'nq' is not defined") == tuple(
        problem.values()
    )


def test_vs_code_finds_a_compiler_s_column(compiled: Said) -> None:
    error = next(one for one in problems(compiled) if one["severity"] == "error")
    assert ("mine.cpp", "4", "14") == (error["file"], error["line"], error["column"])


def test_vs_code_knows_when_a_save_begins_and_ends(python: Said) -> None:
    background = matcher()["background"]
    begins, ends = (re.compile(background[key]) for key in ("beginsPattern", "endsPattern"))
    assert [True] == [True for line in python.err.splitlines() if begins.match(line)]
    lines = python.out.splitlines()
    (end,) = (number for number, line in enumerate(lines) if ends.match(line))
    (problem,) = (number for number, line in enumerate(lines) if line.startswith("my files/"))
    assert problem < end


@pytest.mark.exhaustive
def test_a_task_of_vs_code_runs_on_a_terminal(shell: Shell) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "dev", "--once", "--lines", "sums", "my files/mine.py"],
        cwd=shell.home,
        env=shell.environment | {"COLUMNS": "30", "TERM": "xterm"},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = ESCAPES.sub("", read_until(ours, None).replace("\r\n", "\n"))
    os.close(ours)
    (problem,) = problems(Said(process.wait(), shown, ""))
    assert "NameError: name 'nq' is not defined" == problem["message"]
    assert re.search(matcher()["background"]["endsPattern"], shown, re.MULTILINE)


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed here")
def test_vim_lists_the_same(shell: Shell, python: Said, compiled: Said) -> None:
    options = next(text for kind, text in blocks(PAGE) if kind == "vim")
    (shell.home / "said").write_text(python.out + compiled.out)
    (shell.home / "vimrc").write_text(
        f"{options}cgetfile said\n"
        "call writefile(map(filter(getqflist(), 'v:val.valid'), "
        "'join([bufname(v:val.bufnr), v:val.lnum, v:val.col, v:val.type])'), 'listed')\nqall!\n"
    )
    subprocess.run(
        ["vim", "-es", "-u", "NONE", "-i", "NONE", "-S", "vimrc"],
        cwd=shell.home,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    listed = (shell.home / "listed").read_text().splitlines()
    assert ("my files/mine.py 5 0 e", True) == (listed[0], "mine.cpp 4 14 e" in listed)


@pytest.mark.exhaustive
def test_a_program_reads_the_same_and_the_code_says_how_it_ended(shell: Shell) -> None:
    said = shell("dev", "--once", "--json", "sums", "my files/mine.py")
    (diagnostic,) = said.document["diagnostics"]
    assert (1, "my files/mine.py", 5) == (said.code, diagnostic["file"], diagnostic["line"])
    right = shell("dev", "--once", "--json", "sums", Path("sums") / "submission.py")
    assert (0, []) == (right.code, right.document["diagnostics"])
    missing = shell("dev", "--once", "--json", "sums", "nowhere.py")
    assert (2, "author") == (missing.code, missing.document["fault"])
