"""`read_sets`: which files of a folder are competitions."""

from pathlib import Path

from kernelbot.catalog.problem_sets import read_sets

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
