from typing import Any

import pytest
from pydantic import ValidationError

from kernelbot.boards.model import ProblemDefinition
from kernelbot.boards.schemas import NewBoard, problem_to_wire
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import BuildConfig, Case, HarnessKind, Lang, ProblemSpec, SourceFile
from kernelbot.schemas.values import adapter

DEFINITION = ProblemDefinition(
    ProblemSpec(
        name="sort",
        lang=Lang.PY,
        harness=HarnessKind.NATIVE,
        harness_reason="it offers both functions",
        files=(SourceFile("reference.py", "x = 1\n"),),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py"),
        tests=(Case({"size": 127}),),
        benchmarks=(),
    ),
    description="Sort.",
    devices=("CPU",),
    templates={"Python": "pass\n"},
)


def wire() -> dict[str, Any]:
    return problem_to_wire(DEFINITION)


def test_a_problem_survives_the_way_through_a_body() -> None:
    assert NewBoard(name="b", problem=wire()).definition() == DEFINITION


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_can_not_be_stored_is_refused(text: str) -> None:
    body = NewBoard(name="b", problem={**wire(), "description": text})
    with pytest.raises(InvalidProblem, match="can't be read"):
        body.definition()


def test_a_problem_nested_without_end_is_refused() -> None:
    nested: Any = 1
    for _ in range(5000):
        nested = [nested]
    problem = wire()
    problem["spec"]["tests"] = [{"args": {"size": nested}}]
    with pytest.raises(InvalidProblem, match="too deeply"):
        NewBoard(name="b", problem=problem).definition()


def test_a_newer_peer_is_told_so() -> None:
    with pytest.raises(InvalidProblem, match="version 99"):
        NewBoard(name="b", problem={**wire(), "version": 99}).definition()


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00", "x" * 201])
def test_names_that_can_not_be_typed_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        adapter(NewBoard).validate_python({"name": name, "problem": {}})


def test_a_misspelt_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="dead_line"):
        adapter(NewBoard).validate_python({"name": "b", "problem": {}, "dead_line": None})
