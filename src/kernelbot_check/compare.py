"""Comparing an output with what was expected, with the first differing elements shown."""

import math
from dataclasses import dataclass
from typing import Any

from kernelbot_check.arrays import (
    device_name,
    doubled,
    dtype_name,
    index_text,
    is_exact,
    library,
)

SHOWN = 5
"""How many differing elements a message names."""


@dataclass(frozen=True)
class Tolerance:
    """How far apart floating-point numbers may be: `atol + rtol * |expected|`."""

    rtol: float = 0.0
    atol: float = 0.0
    equal_nan: bool = False

    def admits(self, output: Any, expected: Any) -> bool:
        """For plain values: numbers within the tolerance, everything else equal."""
        if not isinstance(expected, float):
            return bool(output == expected)
        if math.isnan(expected):
            return self.equal_nan and math.isnan(output)
        near = abs(output - expected) <= self.atol + self.rtol * abs(expected)
        return bool(output == expected or (near and math.isfinite(expected)))


EXACT = Tolerance()


def compare(
    output: Any,
    expected: Any,
    rtol: float = 0.0,
    atol: float = 0.0,
    *,
    equal_nan: bool = False,
    shown: int = SHOWN,
) -> tuple[bool, str]:
    """Whether `output` is `expected`, and if not, why: what a `check_implementation` returns.

    Type, shape, dtype and device are compared exactly, in tuples, lists and dicts too. Elements
    may differ by `atol + rtol * |expected|`; whole numbers and truth values not at all. NaN and
    infinities must be where they are expected (NaN equals NaN only with `equal_nan`).
    """
    tolerance = Tolerance(rtol, atol, equal_nan)
    message = describe(output, expected, tolerance, shown=shown)
    return not message, message


def describe(
    output: Any,
    expected: Any,
    tolerance: Tolerance = EXACT,
    *,
    shown: int = SHOWN,
    where: str = "the output",
) -> str:
    """`compare`'s message; empty when they agree."""
    if type(output) is not type(expected):
        return f"{where} is {_kind(output)}, expected {_kind(expected)}"
    if isinstance(expected, tuple | list | dict):
        return _parts(output, expected, tolerance, shown, where)
    if library(expected) is not None:
        kinds = _kinds(output, expected, where)
        return kinds or _elements(output, expected, tolerance, shown, where)
    same = tolerance.admits(output, expected)
    return "" if same else f"{where} is {output!r}, expected {expected!r}"


def _parts(output: Any, expected: Any, tolerance: Tolerance, shown: int, where: str) -> str:
    """The first differing part of a tuple, list or dict."""
    if isinstance(expected, dict):
        if set(output) != set(expected):
            mine, theirs = sorted(map(str, output)), sorted(map(str, expected))
            return f"{where} has the keys {mine}, expected {theirs}"
        keys = list(expected)
    else:
        if len(output) != len(expected):
            return f"{where} has {len(output)} items, expected {len(expected)}"
        keys = list(range(len(expected)))
    messages = (
        describe(output[key], expected[key], tolerance, shown=shown, where=f"{where}[{key!r}]")
        for key in keys
    )
    return next((message for message in messages if message), "")


def _kinds(output: Any, expected: Any, where: str) -> str:
    for what, of in (("dtype", dtype_name), ("shape", _shape), ("device", device_name)):
        mine, theirs = of(output), of(expected)
        if mine != theirs:
            return f"{where} has {what} {mine}, expected {theirs}"
    return ""


def _elements(output: Any, expected: Any, tolerance: Tolerance, shown: int, where: str) -> str:
    wrong = _wrong(output, expected, tolerance).reshape(-1)
    count = int(wrong.sum())
    if not count:
        return ""
    found = library(expected).nonzero(wrong)
    flat = found[0] if isinstance(found, tuple) else found[:, 0]
    lines = [f"{where} differs in {count} of {wrong.shape[0]} elements:"]
    for place in map(int, flat[:shown]):
        got, wanted = output.reshape(-1)[place].item(), expected.reshape(-1)[place].item()
        lines.append(f"  {index_text(place, _shape(expected))}: {got!r}, expected {wanted!r}")
    if count > shown:
        lines.append(f"  ... and {count - shown} more")
    return "\n".join(lines)


def _wrong(output: Any, expected: Any, tolerance: Tolerance) -> Any:
    """Truth values, by element."""
    if is_exact(expected):
        return output != expected
    module = library(expected)
    mine, theirs = doubled(output), doubled(expected)
    finite = module.isfinite(mine) & module.isfinite(theirs)
    here, there = module.where(finite, mine, 0.0), module.where(finite, theirs, 0.0)
    near = module.abs(here - there) <= tolerance.atol + tolerance.rtol * module.abs(there)
    same = (finite & near) | (~finite & (mine == theirs))
    if tolerance.equal_nan:
        same = same | (module.isnan(mine) & module.isnan(theirs))
    return ~same


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape)


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"of type {name}"
