"""What makes two versions of a problem the same."""

from dataclasses import replace

import pytest

from kernelbot.boards.model import Difficulty
from kernelbot.boards.problem_hashes import definition_to_wire, problem_hashes
from kernelbot.protocol import to_wire
from tests.support.problems import sort_problem

LATER = {"summary", "difficulty", "tags"}


def test_a_problem_that_says_nothing_for_lists_is_written_as_before() -> None:
    written = definition_to_wire(sort_problem())
    assert LATER == to_wire(sort_problem()).keys() - written.keys()


@pytest.mark.parametrize(
    "said", [{"summary": "Sort."}, {"difficulty": Difficulty.EASY}, {"tags": ("sort",)}]
)
def test_what_lists_say_makes_a_new_version_and_leaves_scores(said: dict[str, object]) -> None:
    before, after = problem_hashes(sort_problem()), problem_hashes(replace(sort_problem(), **said))  # type: ignore[arg-type]  # by name
    assert (False, True) == (before.content == after.content, before.judging == after.judging)
