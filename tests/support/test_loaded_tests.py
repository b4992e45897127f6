"""What a worker of xdist begins with."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.loaded_tests import python_that_has_them

ROOT = Path(__file__).parents[2]
FILE = "tests/render/test_text.py"
ASKS = """
import json, os, sys
has = "tests.render.test_text" in sys.modules
print(json.dumps([has, os.getcwd(), os.environ.get("MINE"), len(os.listdir("/proc/self/task"))]))
"""


@pytest.fixture(scope="module")
def python() -> list[str]:
    return shlex.split(python_that_has_them([FILE], ROOT))


@pytest.mark.exhaustive  # each run has test_what_a_module_takes_from_its_import_is_the_fork_s_own
def test_its_process_has_loaded_the_tests_and_is_its_own(python: list[str], tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [*python, "-u", "-c", "as execnet starts it"],
            input=f"{ASKS!r}\n",
            env={**os.environ, "MINE": mine},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for mine in ("a'; echo x", "b")
    ]
    assert [[True, str(tmp_path), "a'; echo x", 1], [True, str(tmp_path), "b", 1]] == [
        json.loads(one) for one in said
    ]


def test_its_end_is_told(python: list[str], tmp_path: Path) -> None:
    codes = [
        subprocess.run([*python], input=f"{ends!r}\n", cwd=tmp_path, text=True).returncode
        for ends in ("raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)")
    ]
    assert [3, 137] == codes


def test_what_a_module_takes_from_its_import_is_the_fork_s_own(tmp_path: Path) -> None:
    """As a default of a function: there is no pytest's capture that ends before the fork begins."""
    (tmp_path / "test_mine.py").write_text("import sys\nAT_IMPORT = sys.stderr\n")
    python = shlex.split(python_that_has_them([str(tmp_path / "test_mine.py")], ROOT))
    asks = "import sys; print('mine', file=sys.modules['test_mine'].AT_IMPORT)"
    done = subprocess.run([*python], input=f"{asks!r}\n", capture_output=True, text=True)
    assert (0, "mine\n") == (done.returncode, done.stderr)
