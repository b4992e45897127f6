"""How an output differs in kind from the reference's, found before a checker reads its numbers."""

import cmath
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.encode import record_fields

SIGNIFICANT_BITS = {
    "float64": 53,
    "float32": 24,
    "float16": 11,
    "bfloat16": 8,
    "float8_e4m3fn": 4,
    "float8_e4m3fnuz": 4,
    "float8_e5m2": 3,
    "float8_e5m2fnuz": 3,
    "float4_e2m1fn_x2": 2,
    "float8_e8m0fnu": 1,
    "complex128": 53,
    "complex64": 24,
}
"""Significant bits of a float's fraction, or of each part of a complex number."""
_MAY_REPLACE_FLOAT64 = frozenset(("float32", "float16", "bfloat16"))
_NUMBERS: dict[type, str] = {bool: "b", int: "iu", float: "f", complex: "c"}
"""The kinds of NumPy's types that stand for a number of Python's."""
_WITHOUT_NAN = frozenset(("float4_e2m1fn_x2",))


@dataclass(frozen=True)
class Likeness:
    """What makes an output the same kind as the reference's."""

    modules: frozenset[str]
    """Modules whose named tuples both sides know; any other named tuple counts as a tuple."""
    least_bits: int = 53
    """Precision that a narrower float needs to be accepted for a float64 of the reference."""


def likeness(data: Any, modules: frozenset[str]) -> Likeness:
    """The likeness that outputs for `data` need.

    References compute in float64 to check results of a lower precision. So a narrower float is
    accepted for their float64, but none that is less precise than the most precise floats of
    `data`, and none at all if `data` has no arrays of floats.
    """
    return Likeness(modules, max(_bits(data), default=53))


def difference(expected: Any, output: Any, alike: Likeness, where: str = "the output") -> str:
    """One sentence on the first difference in type, shape, dtype, device or NaN; empty if none.

    The values are compared by the checker, not here.
    """
    kind = _kind(expected, alike)
    if _is_as_good_a_number(output, kind, alike):
        return _nan(cmath.isnan(expected), cmath.isnan(output), where)
    if kind is not _kind(output, alike):
        return f"{where} is {_kind_name(output)}, expected {_kind_name(expected)}"
    if has_dtype(expected):
        return _arrays(expected, output, where, alike)
    if kind in (float, complex):
        return _nan(cmath.isnan(expected), cmath.isnan(output), where)
    if kind in (tuple, list):
        return _sequences(expected, output, where, alike)
    if kind is dict:
        return _dicts(expected, output, where, alike)
    for name in record_fields(kind) or ():
        mine, theirs = getattr(expected, name), getattr(output, name)
        if found := difference(mine, theirs, alike, f"{where}.{name}"):
            return found
    return ""


def size_bytes(value: Any) -> int:
    """How many bytes the arrays, tensors and bytes in plain data hold."""
    return sum(_leaf_bytes(leaf) for leaf in leaves(value))


def _leaf_bytes(leaf: Any) -> int:
    return len(leaf) if isinstance(leaf, bytes) else int(getattr(leaf, "nbytes", 0))


def _bits(data: Any) -> Iterator[int]:
    """Significant bits of every array of floats in plain data."""
    for leaf in leaves(data):
        bits = SIGNIFICANT_BITS.get(_dtype_name(leaf))
        if bits is not None:
            yield bits


def leaves(data: Any) -> Iterator[Any]:
    """The values that aren't containers."""
    if isinstance(data, dict):
        parts = list(data.values())
    elif isinstance(data, tuple | list):
        parts = list(data)
    elif names := record_fields(type(data)):
        parts = [getattr(data, name) for name in names]
    elif hasattr(data, "__dict__") and not has_dtype(data):  # an object of the problem's
        parts = list(vars(data).values())
    else:
        yield data
        return
    for part in parts:
        yield from leaves(part)


def has_dtype(value: Any) -> bool:
    """Whether it is an array, a tensor, or a scalar of NumPy's."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return True
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray | numpy.generic)


def _dtype_name(value: Any) -> str:
    return str(getattr(value, "dtype", "")).removeprefix("torch.")


def _kind(value: Any, alike: Likeness) -> type:
    """The type to compare; for NumPy's scalars the dtype is compared separately."""
    kind = type(value)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.generic):
        return numpy.generic  # type: ignore[no-any-return]  # numpy is looked up, not imported
    if issubclass(kind, tuple) and kind.__module__ not in alike.modules:
        return tuple
    return kind


def _is_as_good_a_number(output: Any, kind: type, alike: Likeness) -> bool:
    """Whether it is a scalar of NumPy's where the reference gives a number of Python's: what a
    reduction returns. A narrower float needs the precision of the data's."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(output, numpy.generic):
        return False
    if output.dtype.kind not in _NUMBERS.get(kind, ""):
        return False
    return SIGNIFICANT_BITS.get(_dtype_name(output), 53) >= alike.least_bits


def _kind_name(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"a value of type {name}"


def _arrays(expected: Any, output: Any, where: str, alike: Likeness) -> str:
    if expected.dtype != output.dtype and not _precise_enough(expected, output, alike):
        return f"{where} has dtype {output.dtype}, expected {expected.dtype}"
    if expected.shape != output.shape:
        return f"{where} has shape {tuple(output.shape)}, expected {tuple(expected.shape)}"
    theirs, ours = getattr(output, "device", None), getattr(expected, "device", None)
    if theirs != ours:
        return f"{where} is on the device {theirs}, expected {ours}"
    return _nan(has_nan(expected), has_nan(output), where)


def _precise_enough(expected: Any, output: Any, alike: Likeness) -> bool:
    name = _dtype_name(output)
    if _dtype_name(expected) != "float64" or name not in _MAY_REPLACE_FLOAT64:
        return False
    return SIGNIFICANT_BITS[name] >= alike.least_bits


def has_nan(array: Any) -> bool:
    """Whether an array of floats contains NaN; False for any other."""
    name = _dtype_name(array)
    if name not in SIGNIFICANT_BITS or name in _WITHOUT_NAN:
        return False
    if name.startswith("float8"):
        array = array.float()  # which torch can look for NaN in
    return bool((array != array).any())


def _nan(expected: bool, output: bool, where: str) -> str:
    return f"{where} contains NaN where the reference has none" if output and not expected else ""


def _sequences(expected: Any, output: Any, where: str, alike: Likeness) -> str:
    if len(expected) != len(output):
        return f"{where} has {len(output)} items, expected {len(expected)}"
    for index, (mine, theirs) in enumerate(zip(expected, output, strict=True)):
        if found := difference(mine, theirs, alike, f"{where}[{index}]"):
            return found
    return ""


def _dicts(expected: dict[Any, Any], output: dict[Any, Any], where: str, alike: Likeness) -> str:
    if set(expected) != set(output):
        return f"{where} has keys {sorted(map(str, output))}, expected {sorted(map(str, expected))}"
    for key, mine in expected.items():
        if found := difference(mine, output[key], alike, f"{where}[{key!r}]"):
            return found
    return ""
