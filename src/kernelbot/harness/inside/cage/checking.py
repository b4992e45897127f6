"""Is an output right? The problem's checker decides, on the judge's own copy of the data."""

import copy
from typing import Any

from kernelbot.harness.inside.cage.comparison import difference, likeness
from kernelbot.harness.inside.cage.layouts import misplaced
from kernelbot.harness.inside.cage.loader import (
    ProblemBroken,
    ProblemFunctions,
    blaming_problem,
    described,
)


def expected_output(problem: ProblemFunctions, data: Any) -> Any:
    """The reference's answer on a copy of `data`; None if the problem has no `ref_kernel`.

    Raises `ProblemBroken`.
    """
    if problem.reference is None:
        return None
    with blaming_problem("ref_kernel"):
        return problem.reference(copy.deepcopy(data))


def complaint(problem: ProblemFunctions, data: Any, output: Any, expected: Any = None) -> str:
    """What is wrong with `output`; empty when nothing is.

    `expected` is the reference's answer if it was worked out: then type, shape, dtype and NaN
    are compared before the checker runs. Raises `ProblemBroken` if the checker itself fails.
    """
    if found := unlike(problem, expected, output, data):
        return found
    with blaming_problem("input"):
        spare = copy.deepcopy(data)
    try:
        return problem.judge(data, output)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 (blamed on someone by name below)
        return _blame(problem, spare, output, error)


def unlike(problem: ProblemFunctions, expected: Any, output: Any, data: Any) -> str:
    """How `output` differs in kind from `expected`, if that is known, or in its order in memory
    where that counts; else empty."""
    if expected is None and output is None:
        return "custom_kernel returned None."
    with blaming_problem("reference's output"):
        if expected is not None:
            found = difference(expected, output, likeness(data, problem.modules))
            if found:
                return f"{found[0].upper()}{found[1:]}."
        return misplaced(expected, output, data, contiguous=problem.contiguous)


def _blame(problem: ProblemFunctions, data: Any, output: Any, error: BaseException) -> str:
    """The complaint if the checker raised: the author's fault if the output differs in kind from
    the reference's, or if the checker accepts the reference's answer as input.

    Without a reference it is the author's fault if the output isn't an array.
    """
    text = described(error)
    expected = expected_output(problem, data)
    if found := unlike(problem, expected, output, data):
        return found
    if expected is not None and _copes(problem, data, expected):
        return f"The problem's checker can't use this output: {text}"
    if expected is None and type(output).__module__ == "builtins":
        return f"The checker can't use a value of type {type(output).__name__}: {text}"
    raise ProblemBroken(f"The problem's checker failed: {text}") from error


def _copes(problem: ProblemFunctions, data: Any, expected: Any) -> bool:
    """Whether the checker doesn't raise for the reference's answer."""
    try:
        problem.judge(data, expected)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 (its complaint was about another output)
        return False
    return True
