import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from scripts.mutants.exchange import Loaded, Unfit, is_in_function
from scripts.mutants.operators import Mutant, mutants

pytestmark = pytest.mark.each_run(
    "test_a_loaded_function_does_what_was_changed[closure]",
    "test_a_function_that_is_not_loaded_cannot_be_exchanged",
)

_MODULE = "src/kernelbot_exchanged.py"
_SOURCE = """\
import functools

LEAST = 3

def logged(function):
    @functools.wraps(function)
    def call(*values):
        return function(*values)
    return call

class Rules:
    most: int = 9

    @logged
    def more(self, a):
        return [each + 7 for each in (a,)]

    @functools.cached_property
    def name(self):
        return self.most == 9

    @staticmethod
    def less(a, b=5):
        def inner(least=11):
            return a - b - least
        return inner()

def same(a): return a + 13

def outer(a):
    return (lambda: a) if a > 15 else (lambda: 17)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "src").mkdir()
    (tmp_path / _MODULE).write_text(_SOURCE)
    sys.path.insert(0, str(tmp_path / "src"))
    yield tmp_path
    sys.path.remove(str(tmp_path / "src"))
    sys.modules.pop("kernelbot_exchanged", None)


def _change(before: str, after: str) -> Mutant:
    found = mutants(_MODULE, _SOURCE.encode())
    return next(each for each in found if (each.before, each.after) == (before, after))


@pytest.mark.parametrize(
    ("before", "after", "call", "first", "then"),
    [
        ("7", "8", lambda m: m.Rules().more(1), [8], [9]),
        ("self.most == 9", "(self.most != 9)", lambda m: m.Rules().name, True, False),
        ("a - b", "(a + b)", lambda m: m.Rules.less(1), -15, -5),
        ("11", "12", lambda m: m.Rules.less(1), -15, -16),
        ("13", "14", lambda m: m.same(1), 14, 15),
        ("17", "18", lambda m: m.outer(1)(), 17, 18),
    ],
    ids=["decorated", "property", "closure", "inner-default", "same-line", "lambda"],
)
def test_a_loaded_function_does_what_was_changed(
    tree: Path,
    before: str,
    after: str,
    call: Callable[[ModuleType], object],
    first: object,
    then: object,
) -> None:
    module = importlib.import_module("kernelbot_exchanged")
    assert first == call(module)
    Loaded(tree).exchange(_change(before, after))
    assert then == call(module)


@pytest.mark.parametrize(("before", "after"), [("3", "4"), ("5", "6"), ("9", "10")])
def test_what_a_module_has_computed_cannot_be_exchanged(
    tree: Path, before: str, after: str
) -> None:
    importlib.import_module("kernelbot_exchanged")
    change = _change(before, after)
    assert not is_in_function(_SOURCE.encode(), change)
    with pytest.raises(Unfit, match="outside of all functions"):
        Loaded(tree).exchange(change)


def test_a_function_that_is_not_loaded_cannot_be_exchanged(tree: Path) -> None:
    assert is_in_function(_SOURCE.encode(), _change("13", "14"))
    with pytest.raises(Unfit, match="no such function"):
        Loaded(tree).exchange(_change("13", "14"))
