"""What makes two versions of a problem the same."""

import hashlib
import json
import re
from dataclasses import replace

import pytest

from kernelbot.boards.model import Difficulty
from kernelbot.boards.problem_hashes import definition_to_wire, problem_hashes
from kernelbot.domain.errors import InvalidProblem
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


def test_a_hash_is_of_utf_8_text() -> None:
    definition = replace(sort_problem(), description="späße")
    text = json.dumps(definition_to_wire(definition), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).digest() == problem_hashes(definition).content


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("a\x00b", "The problem's description holds a NUL character."),
        ("\ud800", "The problem's files hold text that isn't valid Unicode."),
    ],
)
def test_text_that_no_database_holds_is_refused(description: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=f"^{re.escape(said)}$"):
        problem_hashes(replace(sort_problem(), description=description))
