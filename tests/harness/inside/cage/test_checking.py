"""Whose fault it is if a checker raises."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kernelbot.harness.inside.cage.checking import complaint, expected_output
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFunctions
from kernelbot.harness.inside.cage.questions import encode_input

DATA = np.ones(3, dtype=np.float32)


class Untold(BaseException):
    """Neither an `Exception` nor able to say what it is."""

    def __str__(self) -> str:
        raise ValueError


def fail(*_arguments: object, **_named: object) -> Any:
    raise Untold


def a_problem(
    check: Callable[[Any, Any], Any],
    reference: Callable[[Any], Any] | None = lambda data: 1.0,
) -> ProblemFunctions:
    return ProblemFunctions(fail, check, reference, frozenset())


def whole(_data: object, output: Any) -> bool:
    return int(output) == 1


def test_a_checker_that_copes_with_the_reference_cannot_use_the_output() -> None:
    found = complaint(a_problem(whole), DATA, float("inf"))
    assert found == (
        "The problem's checker can't use this output: "
        "OverflowError: cannot convert float infinity to integer"
    )


def test_a_checker_that_copes_with_nothing_is_broken() -> None:
    with pytest.raises(ProblemBroken, match="checker failed: ZeroDivisionError"):
        complaint(a_problem(lambda _data, _output: 1 / 0), DATA, 1.0)


def test_whatever_the_problem_raises_names_the_problem() -> None:
    problem = a_problem(whole, fail)
    with pytest.raises(ProblemBroken, match=r"generate_input failed: Untold: .* \(ValueError\)"):
        problem.make_input({}, None)
    with pytest.raises(ProblemBroken, match="ref_kernel failed: Untold"):
        expected_output(problem, DATA)
    with pytest.raises(ProblemBroken, match="checker failed: Untold"):
        complaint(a_problem(fail), DATA, 1.0)


def test_an_input_that_is_no_plain_data_is_the_problems() -> None:
    with pytest.raises(ProblemBroken, match="set `harness: script`"):
        encode_input(object(), frozenset())
