"""Is an output right? The problem's checker decides, on the judge's own copy of the data."""

import copy
from typing import Any

from kernelbot.harness.problem import LoadedProblem, ProblemBroken
from kernelbot.harness.structure import difference, holds_float64, narrowed


def expected_output(problem: LoadedProblem, data: Any) -> Any:
    """The reference's answer on a copy of `data`; None where the problem has no `ref_kernel`.

    Raises `ProblemBroken`.
    """
    if problem.reference is None:
        return None
    try:
        return problem.reference(copy.deepcopy(data))
    except (Exception, SystemExit) as error:
        raise ProblemBroken(
            f"The problem's ref_kernel failed: {type(error).__name__}: {error}"
        ) from error


def complaint(problem: LoadedProblem, data: Any, output: Any, expected: Any = None) -> str:
    """What is wrong with `output`; empty when nothing is.

    `expected` is the reference's answer where it was worked out: then type, shape, dtype and NaN
    are compared before the checker runs. Raises `ProblemBroken` where the checker itself fails.
    """
    if found := unlike(expected, output, data):
        return found
    spare = copy.deepcopy(data)
    try:
        return problem.judge(data, output)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (blamed on someone by name below)
        return _blame(problem, spare, output, error)


def unlike(expected: Any, output: Any, data: Any) -> str:
    """How `output` differs in kind from what is `expected`, where that is known; else empty."""
    if expected is not None and (found := _difference(expected, output, data)):
        return f"{found[0].upper()}{found[1:]}."
    return "custom_kernel returned None." if output is None else ""


def _difference(expected: Any, output: Any, data: Any) -> str:
    """A reference in float64 over data of a lower precision doesn't ask for float64."""
    if not holds_float64(data):
        expected = narrowed(expected, output)
    return difference(expected, output)


def _blame(problem: LoadedProblem, data: Any, output: Any, error: BaseException) -> str:
    """A checker that raised: the author's doing if the output differs in kind from the reference's.

    Without a reference it is the author's too where the output is no array at all.
    """
    text = f"{type(error).__name__}: {error}"
    expected = expected_output(problem, data)
    if expected is not None and (found := _difference(expected, output, data)):
        return f"{found[0].upper()}{found[1:]}."
    if expected is None and type(output).__module__ == "builtins":
        return f"The checker can't use a value of type {type(output).__name__}: {text}"
    raise ProblemBroken(f"The problem's checker failed: {text}") from error
