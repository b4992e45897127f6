"""Checkers made of a reference."""

import copy
from collections.abc import Callable
from typing import Any

from kernelbot_check.arrays import is_exact, library
from kernelbot_check.compare import compare

Checker = Callable[[Any, Any], tuple[bool, str]]


def match_reference(
    reference: Callable[[Any], Any], rtol: float = 0.0, atol: float = 0.0
) -> Checker:
    """A `check_implementation(data, output)` that compares with `reference(data)`, as `compare`
    does. The reference works on a copy of its own."""

    def check_implementation(data: Any, output: Any) -> tuple[bool, str]:
        return compare(output, reference(copy.deepcopy(data)), rtol, atol)

    return check_implementation


def relative_to(
    output: Any, precise: Any, *, ulps: float = 16.0, terms: int = 1
) -> tuple[bool, str]:
    """Whether `output` is as near to the result in higher precision as its own type allows.

    `precise` is what the reference computes in float64, of the same kind otherwise; which type the
    output must have is for others to check (`compare`, or a problem's own). An element
    may be off by `ulps` roundings of the output's type, times the square root of `terms` (how many
    numbers are summed into one: random rounding errors grow like that), of the larger of its own
    size and the root mean square of all: if terms cancel, the sum's size says little.
    """
    module = library(precise)
    if module is None or library(output) is not module or is_exact(output):
        return compare(output, precise)
    epsilon = float(module.finfo(output.dtype).eps)  # from 1 to the next number of that type
    rtol = ulps * epsilon * max(terms, 1) ** 0.5
    expected = precise.to(output.dtype) if hasattr(precise, "to") else precise.astype(output.dtype)
    finite = precise[module.isfinite(precise)]
    scale = float((module.abs(finite) ** 2).mean() ** 0.5) if finite.reshape(-1).shape[0] else 0.0
    return compare(output, expected, rtol, rtol * scale)
