"""Classes that installed packages bring, and what is said of those that can't be loaded."""

from pathlib import Path

import pytest

from kernelbot.domain.entry_points import Group
from kernelbot.domain.errors import UserError

GROUP = Group("kernelbot.of_tests", Exception, "thing")
METADATA = "Metadata-Version: 2.1\nName: of-tests\nVersion: 1\n"
ENTRIES = """
[kernelbot.of_tests]
good = of_tests:Good
absent = of_tests_absent:Good
nameless = of_tests:Bad
number = of_tests:number
stranger = of_tests:Stranger
[kernelbot.others]
other = of_tests:Good
"""
MODULE = "number = 3\nclass Good(Exception): ...\nclass Stranger: ...\n"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with entry points, of which one leads to what is wanted."""
    about = tmp_path / "of_tests-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "of_tests.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_group_has_its_own_names_in_order() -> None:
    assert ["absent", "good", "nameless", "number", "stranger"] == GROUP.names()


def test_the_class_of_a_name_is_loaded() -> None:
    assert ("Good", True) == ((good := GROUP.load("good")).__name__, issubclass(good, Exception))
    with pytest.raises(KeyError, match="missing"):
        GROUP.load("missing")


@pytest.mark.parametrize(
    ("name", "where", "why"),
    [
        ("absent", "_absent:Good", "ModuleNotFoundError: No module named 'of_tests_absent'"),
        ("nameless", ":Bad", "AttributeError: module 'of_tests' has no attribute 'Bad'"),
        ("number", ":number", "it is no Exception"),
        ("stranger", ":Stranger", "it is no Exception"),
    ],
)
def test_what_cannot_be_loaded_is_named_with_its_package(name: str, where: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        GROUP.load(name)
    said = f"The thing {name!r} can't be loaded from of_tests{where}: {why}."
    assert (said, "Install the package that has it again, or remove it.") == (
        str(error.value),
        error.value.hint,
    )
