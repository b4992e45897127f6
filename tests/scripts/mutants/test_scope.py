from pathlib import Path

import pytest
from scripts.mutants.__main__ import ROOT
from scripts.mutants.equivalents import equivalents, reason_of
from scripts.mutants.operators import mutants
from scripts.mutants.scope import noticing, scopes

_SCOPE = """
slow = ["tests/*/test_users.py"]
[[scope]]
name = "one"
modules = ["kernelbot/*.py"]
without = ["kernelbot/b.py"]
with_folder = true
tests = ["tests/all"]
[scope.others]
"kernelbot/a.py" = ["tests/more.py"]
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/kernelbot/a.py", "src/kernelbot/b.py", "tests/more.py", "tests/test_a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tests/all").mkdir()
    (tmp_path / "tests/all/test_all.py").touch()
    (tmp_path / "tests/b").mkdir()
    (tmp_path / "tests/b/test_people.py").write_text("from kernelbot.a import x\n")
    (tmp_path / "tests/b/test_users.py").write_text("from kernelbot.a import x\n")
    for number in range(11):
        (tmp_path / f"tests/b/test_{number}.py").write_text("from kernelbot import c, x\n")
    return tmp_path


def _written(tree: Path, text: str) -> Path:
    file = tree / "scope.toml"
    file.write_text(text)
    return file


_MANY = tuple(sorted(f"tests/b/test_{number}.py" for number in range(11)))


def test_the_mirror_comes_first_and_its_folder_last(tree: Path) -> None:
    (scope,) = scopes(tree, _written(tree, _SCOPE))
    assert ("src/kernelbot/a.py",) == scope.modules
    first = ("tests/test_a.py", "tests/more.py", "tests/all/test_all.py")
    # Of the folder test_users.py is slow.
    assert (*first, "tests/b/test_people.py", *_MANY) == noticing(tree, scope, "src/kernelbot/a.py")


def test_what_nearly_all_import_is_not_tried_by_them_first(tree: Path) -> None:
    (scope,) = scopes(tree, _written(tree, _SCOPE))
    found = noticing(tree, scope, "src/kernelbot/c.py")
    assert ("tests/all/test_all.py", *_MANY, "tests/b/test_people.py") == found[:-1]


def test_a_slow_test_is_run_if_it_is_named(tree: Path) -> None:
    named = _SCOPE.replace("tests/more.py", "tests/b/test_users.py")
    (scope,) = scopes(tree, _written(tree, named))
    assert "tests/b/test_users.py" == noticing(tree, scope, "src/kernelbot/a.py")[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kernelbot/*.py", "kernelbot/c.py"),
        ('"kernelbot/a.py" =', '"kernelbot/c.py" ='),
        ("tests/more.py", "tests/less.py"),
        ("tests/all", "tests/none"),
    ],
)
def test_what_is_not_there_is_named(tree: Path, before: str, after: str) -> None:
    with pytest.raises(ValueError, match=after.rpartition("/")[2].strip('" =')):
        scopes(tree, _written(tree, _SCOPE.replace(before, after)))


@pytest.mark.exhaustive  # each run has test_each_known_equivalent_is_still_there
def test_every_module_of_ours_has_tests() -> None:
    without = {
        module
        for scope in scopes(ROOT)
        for module in scope.modules
        if mutants(module, (ROOT / module).read_bytes()) and not noticing(ROOT, scope, module)
    }
    assert set() == without


def test_each_known_equivalent_is_still_there() -> None:
    known = equivalents()
    modules = sorted({each.module for each in known})
    possible = [mutant for name in modules for mutant in mutants(name, (ROOT / name).read_bytes())]
    found = {reason_of(mutant, known) for mutant in possible} - {None}
    assert [] == [each for each in known if each.reason not in found]
    assert all(any(each.is_(mutant) for mutant in possible) for each in known)
