import ast
from pathlib import Path

import pytest
from scripts.mutants.choice import Choice
from scripts.mutants.lines import Kept, Test, statement
from scripts.mutants.operators import mutants
from scripts.mutants.recording import record

_MODULE = "src/kernelbot_of_that_tree.py"
_SOURCE = """\
import threading

def sign(a: int) -> int:
    "Its sign."
    if a < 0:
        return -1
    return (
        0
        if a == 0
        else 1
    )

def elsewhere(a: int) -> None:
    thread = threading.Thread(target=sign, args=(a,))
    thread.start()
    thread.join()
"""
_TESTS = """\
from kernelbot_of_that_tree import elsewhere, sign

def test_below(): assert -1 == sign(-2)

def test_above(): assert (1, "Its sign.") == (sign(2), sign.__doc__)

def test_elsewhere(): elsewhere(-2)

def test_of_another_day(): assert sign(2) == 2
"""
_FILE = "tests/test_sign.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    for name, text in ((_MODULE, _SOURCE), (_FILE, _TESTS)):
        (tree / name).parent.mkdir()
        (tree / name).write_text(text)
    (tree / "pytest.ini").write_text("[pytest]\n")
    return tree


@pytest.fixture(scope="module")
def recorded(tree: Path) -> dict[str, Test]:
    tests = record(tree, [_FILE], _kept(tree), 1)
    return {name.partition("::")[2]: test for name, test in tests.items()}


def _kept(tree: Path, modules: tuple[str, ...] = (_MODULE,)) -> Kept:
    return Kept(tree / "build/lines.json", tree, modules)


@pytest.mark.exhaustive  # each run has test_exchange.py and those below
def test_what_a_test_executes_is_recorded(recorded: dict[str, Test]) -> None:
    expected = {
        "test_below": {_MODULE: [5, 6]},
        "test_above": {_MODULE: [5, 7]},
        "test_elsewhere": {_MODULE: [5, 6, 14, 15, 16]},
        "test_of_another_day": {_MODULE: [5, 7]},
    }
    found = {name: test.lines for name, test in recorded.items()}
    assert expected == found
    assert ["test_of_another_day"] == [name for name, test in recorded.items() if not test.passed]


@pytest.mark.exhaustive
def test_only_what_was_changed_is_recorded_again(tree: Path, recorded: dict[str, Test]) -> None:
    assert [] == _kept(tree).missing([_FILE])
    assert len(recorded) == len(_kept(tree).tests([_FILE]))
    for name, text in ((_MODULE, _SOURCE), (_FILE, _TESTS)):
        (tree / name).write_text(f"{text}\n")
        assert [_FILE] == _kept(tree).missing([_FILE])
        assert {} == _kept(tree).tests([_FILE])
        (tree / name).write_text(text)
    assert [_FILE] == _kept(tree, (_MODULE, "src/b.py")).missing([_FILE])


@pytest.mark.parametrize(
    ("line", "lines"),
    [(5, range(5, 6)), (6, range(6, 7)), (9, range(7, 12)), (3, range(3, 4)), (14, range(14, 15))],
)
def test_a_statement_has_all_its_lines_and_not_those_of_its_blocks(line: int, lines: range) -> None:
    assert lines == statement(ast.parse(_SOURCE), line)


def test_a_change_meets_the_nearest_and_quickest_tests_that_execute_it(
    tree: Path,
) -> None:
    def ran(took_s: float, *lines: int, passed: bool = True) -> Test:
        return Test(passed, took_s, {_MODULE: [*lines]})

    tests = {
        "tests/a.py::slow[0]": ran(4, 5, 6),
        "tests/a.py::quick[0]": ran(1, 5, 6),
        "tests/b.py::slowest[0]": ran(6, 5, 6),
        "tests/b.py::other[0]": ran(1, 5, 8),
        "tests/b.py::fails[0]": ran(1, 6, passed=False),
    }
    below = next(one for one in mutants(_MODULE, _SOURCE.encode()) if one.line == 6)
    choice = Choice(tree, tests, 10)
    nearest = ("tests/a.py::quick[0]", "tests/a.py::slow[0]", "tests/b.py::slowest[0]")
    assert nearest == choice.executing(below, ["tests/a.py"])
    # None that would take it past 0.5 s, but for the first of those that are near and of others.
    chosen = ("tests/b.py::slowest[0]", "tests/a.py::quick[0]")
    assert chosen == Choice(tree, tests, 0.5).executing(below, ["tests/b.py"])
    assert 7 == choice.took_s(chosen)
    names = ("tests/b.py::other", "tests/b.py::slowest", "tests/a.py::quick", "tests/a.py::slow")
    assert names == choice.reaching(below, ["tests/b.py"])
