"""Checkers made of a reference."""

import copy
from collections.abc import Callable
from typing import Any

from kernelbot_check.arrays import dtype_name, is_exact, library
from kernelbot_check.compare import compare

Checker = Callable[[Any, Any], tuple[bool, str]]

_EPSILON = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
"""The distance from 1 to the next number, of each type."""


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

    `precise` is what the reference computes in float64, of the same kind otherwise. An element
    may be off by `ulps` roundings of the output's type, times the square root of `terms` (how many
    numbers are summed into one: random rounding errors grow like that), of the larger of its own
    size and the root mean square of all: where terms cancel, the sum's size says little.
    """
    module = library(precise)
    if module is None or library(output) is not module or is_exact(output):
        return compare(output, precise)
    rtol = ulps * _EPSILON[dtype_name(output)] * max(terms, 1) ** 0.5
    expected = precise.to(output.dtype) if hasattr(precise, "to") else precise.astype(output.dtype)
    finite = precise[module.isfinite(precise)]
    scale = float((module.abs(finite) ** 2).mean() ** 0.5) if finite.reshape(-1).shape[0] else 0.0
    return compare(output, expected, rtol, rtol * scale)
