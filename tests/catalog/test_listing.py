"""What a problem says of itself for lists of boards."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.boards.model import Difficulty
from kernelbot.catalog.bounds import check_bounds
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import InvalidProblem
from tests.catalog.folders import TASK, write_problem
from tests.support.problems import sort_problem


def test_all_three_are_read(tmp_path: Path) -> None:
    task = TASK + "summary: ' Fast. '\ndifficulty: hard\ntags: [sort, c++, sort]\n"
    found = load_problem(write_problem(tmp_path, task)).definition
    said = (found.summary, found.difficulty, found.tags)
    assert ("Fast.", Difficulty.HARD, ("sort", "c++")) == said


def test_without_them_a_problem_says_nothing(tmp_path: Path) -> None:
    found = load_problem(write_problem(tmp_path)).definition
    assert ("", None, ()) == (found.summary, found.difficulty, found.tags)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (f"summary: {'x' * 201}", "summary"),
        ('summary: "a\\nb"', "summary"),
        ("summary: [a]", "summary"),
        ("difficulty: impossible", "difficulty"),
        ("tags: sort", "tags"),
        ("tags: [Sort]", "tags"),
        ('tags: ["a; echo x"]', "tags"),
        (f"tags: [{'x' * 25}]", "tags"),
        ("tags: [a, b, c, d, e, f, g, h, i]", "tags"),
        ("tags: [1]", "tags[0]"),
    ],
)
def test_a_mistake_names_its_key_and_line(tmp_path: Path, line: str, key: str) -> None:
    with pytest.raises(InvalidProblem) as raised:
        load_problem(write_problem(tmp_path, f"{TASK}{line}\n"))
    found = raised.value.findings
    assert [(key, TASK.count("\n") + 1)] == [(one.key, one.line) for one in found]


def test_what_comes_without_a_folder_has_the_same_limits() -> None:
    wrong = replace(sort_problem(), summary="x" * 201, tags=("<b>",))
    with pytest.raises(InvalidProblem) as raised:
        check_bounds(wrong)
    assert ["summary", "tags"] == [one.key for one in raised.value.findings]
