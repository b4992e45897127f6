from pathlib import Path

import pytest

from kernelbot.catalog.oracle import Expectation, find_solutions
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.skeleton import new_problem
from kernelbot.domain.errors import Conflict, InvalidProblem, UserError
from kernelbot.protocol import HarnessKind, Lang
from tests.support.small_disk import small_disk


@pytest.mark.parametrize("lang", list(Lang))
def test_a_new_problem_loads_without_a_word(tmp_path: Path, lang: Lang) -> None:
    new_problem(tmp_path / "scale", "scale", lang)
    loaded = load_problem(tmp_path / "scale")
    spec = loaded.definition.spec
    assert ((), lang, HarnessKind.NATIVE) == (loaded.warnings, spec.lang, spec.harness)
    assert loaded.definition.description.startswith("scale: ")
    solutions = find_solutions(tmp_path / "scale", spec.submission_name)
    assert set(Expectation) == {solution.expected for solution in solutions}


def test_the_files_written_are_returned(tmp_path: Path) -> None:
    written = new_problem(tmp_path / "scale", "scale", Lang.PY)
    there = sorted(path for path in (tmp_path / "scale").rglob("*") if path.is_file())
    assert there == sorted(written)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(Conflict):
        new_problem(tmp_path, "scale", Lang.PY)
    assert ["mine"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["", "a b", "../x", "a'; echo x", "-x", "x\n", "é", "x" * 65])
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidProblem):
        new_problem(tmp_path / "folder", name, Lang.PY)


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with small_disk("8k") as disk:
        with pytest.raises(UserError, match=rf"^{disk}/small/p.* can't be written"):
            new_problem(disk / "small" / "p", "p", Lang.PY)
        assert not (disk / "small" / "p").exists()


def test_a_function_that_the_reference_lacks_is_named_first(tmp_path: Path) -> None:
    new_problem(tmp_path / "p", "p", Lang.PY)
    reference = tmp_path / "p" / "reference.py"
    reference.write_text(reference.read_text().replace("def generate_input", "def xgenerate_input"))
    with pytest.raises(InvalidProblem, match="defines no generate_input; correct"):
        load_problem(tmp_path / "p")
