import subprocess
from pathlib import Path

import pytest
from scripts.mutants.operators import Mutant, mutants
from scripts.mutants.trial import Copies, Outcome, Trial, attempt

pytestmark = pytest.mark.each_run("test_a_change_that_no_test_notices_survives")

_SOURCE = """\
import time

def least(a: int, b: int) -> int:
    while a > b:
        a -= 1
        time.sleep(0)
    return a if a <= b else b
"""
_TESTS = """\
import pathlib, time
from kernelbot_of_this_tree import least

def test_least(): assert 1 == least(2, 1)

def test_of_another_day(): assert pathlib.Path(__file__).with_name("day").exists()

def test_of_an_hour(): time.sleep(3600)
"""
_WITHOUT_PLUGINS = "[pytest]\naddopts = -p no:schemathesis -p no:hypothesispytest -p no:asyncio\n"
"""To load them takes longer than the tests."""
_MODULE = "src/kernelbot_of_this_tree.py"


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    tree = tmp_path_factory.mktemp("tree")
    for name, text in ((_MODULE, _SOURCE), ("tests/test_least.py", _TESTS)):
        (tree / name).parent.mkdir()
        (tree / name).write_text(text)
    (tree / "pytest.ini").write_text(_WITHOUT_PLUGINS)
    subprocess.run(["git", "init", "-q", "."], cwd=tree, check=True)
    return Copies(tree, tmp_path_factory.mktemp("copies"), 1)


def change(before: str, after: str) -> Mutant:
    found = mutants(_MODULE, _SOURCE.encode())
    return next(each for each in found if (each.before, each.after) == (before, after))


def tried(copies: Copies, mutant: Mutant, name: str, limit_s: float = 60) -> Trial:
    return attempt(copies, mutant, (f"tests/test_least.py::{name}",), limit_s)


def test_a_change_that_a_test_notices_is_killed(copies: Copies) -> None:
    trial = tried(copies, change("1", "2"), "test_least")
    expected = (Outcome.KILLED, "tests/test_least.py::test_least")
    assert expected == (trial.outcome, trial.test)


def test_a_change_that_no_test_notices_survives(copies: Copies) -> None:
    assert Outcome.SURVIVED is tried(copies, change("a <= b", "(a < b)"), "test_least").outcome


def test_a_change_that_never_ends_is_noticed(copies: Copies) -> None:
    mutant = change("a -= 1", "pass")
    limit_s = 20  # it never ends
    assert Outcome.TIMEOUT is tried(copies, mutant, "test_least", limit_s).outcome


@pytest.mark.long  # `make test-all` has test_a_change_that_never_ends_is_noticed
def test_tests_that_take_too_long_without_the_change_say_nothing(copies: Copies) -> None:
    mutant = change("a <= b", "(a < b)")
    limit_s = 2  # they never end
    assert Outcome.UNCLEAR is tried(copies, mutant, "test_of_an_hour", limit_s).outcome


def test_a_test_that_fails_without_the_change_says_nothing(copies: Copies) -> None:
    trial = tried(copies, change("a <= b", "(a < b)"), "test_of_another_day")
    test = "tests/test_least.py::test_of_another_day"
    assert (Outcome.UNCLEAR, test) == (trial.outcome, trial.test)


def test_a_test_may_be_called_by_what_was_changed(copies: Copies) -> None:
    with copies.lent() as copy:
        assert not copies.fails_unchanged(copy, "tests/test_least.py::test_least[2]", 60)


def test_a_copy_is_as_it_was_afterwards(copies: Copies) -> None:
    tried(copies, change("a > b", "(a <= b)"), "test_least")
    with copies.lent() as copy:
        assert _SOURCE == Path(copy, _MODULE).read_text()
