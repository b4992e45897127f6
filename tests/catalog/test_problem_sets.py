"""`read_sets`: which files of a folder are competitions."""

from pathlib import Path

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
