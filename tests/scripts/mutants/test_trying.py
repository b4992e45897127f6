"""Whole runs over a small tree, whose tests use this tree's Postgres."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from scripts.mutants.lines import Kept
from scripts.mutants.operators import mutants
from scripts.mutants.trial import Outcome
from scripts.mutants.trying import Limits, tried

_MODULE = "src/kernelbot_of_those_trees.py"
_SOURCE = """\
import functools, time

LEAST = 3

def checked(function):
    @functools.wraps(function)
    def check(*values):
        return function(*values)
    return check

class Rules:
    @checked
    def least(self, a: int, b: int) -> int:
        while a > b:
            a -= 1
            time.sleep(0)
        return a if a <= b else b

    @staticmethod
    async def more(a: int, url: str, least: int = 5) -> list[int]:
        return [each + 7 for each in (a, least)]

def product(a: int) -> int:
    return a * 17

def nobody_calls(a: int) -> int:
    return a + 11
"""
_TESTS = """\
import psycopg, pytest, time
from kernelbot_of_those_trees import LEAST, Rules

def test_least(): assert 1 == Rules().least(2, 1)

@pytest.mark.parametrize("name", ["a", "b"])
async def test_more(empty_database_url, name):
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(f"CREATE TABLE {name} AS SELECT 1")
    assert [8, 12] == await Rules.more(1, "")

def test_number(): assert 3 == LEAST
"""
_ONCE = """\
import pathlib
from kernelbot_of_those_trees import product

def test_once():
    mark = pathlib.Path(__file__).with_name("mark")
    first = not mark.exists()
    mark.touch()
    assert product(1) and first
"""
_CONFTEST = "from tests.conftest import empty_database_url, postgres\n"
_SETTINGS = """\
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
addopts = -p no:schemathesis
timeout = 0
markers =
    timed
    long
    exhaustive
"""
_FILE = "checks/test_rules.py"
_FILE_ONCE = "checks/test_once.py"
_LIMITS = Limits(2, tests_s=20, hangs_s=110)
pytestmark = pytest.mark.exhaustive  # each run has test_exchange.py, and a trial in test_trial.py


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    texts = {_MODULE: _SOURCE, _FILE: _TESTS, _FILE_ONCE: _ONCE, "checks/conftest.py": _CONFTEST}
    texts |= {"pytest.ini": _SETTINGS, ".gitignore": "build/\n"}
    for name, text in texts.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=tree, check=True)
    return tree


def _tried(
    tree: Path, limits: Limits, *changes: tuple[str, str], file: str = _FILE
) -> set[tuple[str, str, str]]:
    """Outcome, test and what was there before of each of these changes."""
    possible = mutants(_MODULE, _SOURCE.encode())
    chosen = [one for one in possible if (one.before, one.after) in changes]
    assert len(changes) == len(chosen)
    kept = Kept(tree / "build/lines.json", tree, [_MODULE])
    trials = tried(tree, dict.fromkeys(chosen, (file,)), kept, limits)
    return {
        (one.mutant.before, one.outcome, one.test.rpartition("::")[2].partition("[")[0])
        for one in trials
    }


def test_changes_of_functions_are_tried_in_forks(tree: Path) -> None:
    expected = {
        ("1", Outcome.KILLED, "test_least"),
        ("each + 7", Outcome.KILLED, "test_more"),
        ("a <= b", Outcome.SURVIVED, ""),
    }
    changes = ("1", "2"), ("each + 7", "(each - 7)"), ("a <= b", "(a < b)")
    assert expected == _tried(tree, _LIMITS, *changes)


def test_others_are_tried_in_copies(tree: Path) -> None:
    expected = {
        ("3", Outcome.KILLED, "test_number"),
        ("a + 11", Outcome.SURVIVED, ""),  # no test executes it, so all are tried
    }
    assert expected == _tried(tree, _LIMITS, ("3", "4"), ("a + 11", "(a - 11)"))


def test_a_change_that_never_ends_in_a_fork_is_noticed(tree: Path) -> None:
    limits = replace(_LIMITS, hangs_s=20)  # it never ends
    assert {("a -= 1", Outcome.TIMEOUT, "")} == _tried(tree, limits, ("a -= 1", "pass"))


def test_a_test_that_fails_without_the_change_as_well_says_nothing(tree: Path) -> None:
    expected = {("a * 17", Outcome.UNCLEAR, "test_once")}
    assert expected == _tried(tree, _LIMITS, ("a * 17", "(a // 17)"), file=_FILE_ONCE)
