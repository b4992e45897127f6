"""`read_sets`: which files of a folder are competitions."""

from pathlib import Path

import pytest

from kernelbot.catalog import problem_sets
from kernelbot.catalog.problem_sets import read_sets
from tests.support.problem_sets import write_competition, write_problem

SETS = {
    "spring.yaml": "name: spring\nproblems: []\n",
    "autumn.yaml": "name: autumn\ndeadline: 2030-09-01\nproblem:\n  - directory: sort\n",
    "workflow.yaml": "name: checks\non: push\n",
}


def test_a_file_whose_list_is_misspelt_is_named(tmp_path: Path) -> None:
    for name, text in SETS.items():
        (tmp_path / name).write_text(text)
    (autumn, spring) = read_sets(tmp_path)
    assert ("autumn.yaml", "spring.yaml") == (autumn.file, spring.file)
    expected = "The competition autumn.yaml has a mistake:\n  autumn.yaml:1: problems: missing"
    assert expected == autumn.error


def test_what_nobody_reads_of_a_competition_and_of_its_problems_is_named(tmp_path: Path) -> None:
    write_problem(tmp_path / "sets", "one")
    write_competition(tmp_path / "sets", "one", more="dead_line: 2027-01-01")
    with (tmp_path / "sets" / "one" / "task.yml").open("a") as file:
        file.write("colour: red\n")
    (found,) = read_sets(tmp_path)
    assert (
        "sets/spring.yaml:4: dead_line: unknown key, ignored",
        "sets/one/task.yml:10: colour: unknown key, ignored",
    ) == found.warnings


def test_of_a_file_that_many_problems_name_only_so_many_copies_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(problem_sets, "MAX_BYTES", 1 << 20)
    write_problem(tmp_path, "one")
    task = tmp_path / "one" / "task.yml"
    copies = [f'  - {{"name": "copy{n}.py", "source": "big.py"}}\n' for n in range(4)]
    task.write_text(task.read_text().replace("files:\n", "files:\n" + "".join(copies), 1))
    (tmp_path / "one" / "big.py").write_text("#" * (100 << 10))
    listed = [f"  - {{directory: one, name: b{n}, gpus: [CPU]}}\n" for n in range(5)]
    (tmp_path / "spring.yaml").write_text("name: spring\nproblems:\n" + "".join(listed))
    (found,) = read_sets(tmp_path)
    assert [True] * 3 + [False] * 2 == [entry.definition is not None for entry in found.entries]
    assert found.entries[-1].error == (
        "the problems before it hold more than 1 MiB, the most of one sync"
    )
