"""How an output differs in kind from the reference's: before any checker looks at its numbers."""

import sys
from typing import Any


def difference(expected: Any, output: Any, where: str = "the output") -> str:
    """One sentence on the first difference in type, shape, dtype or NaN; empty when there is none.

    Values are the checker's business, not this function's.
    """
    if type(expected) is not type(output):
        return f"{where} is {_kind(output)}, expected {_kind(expected)}"
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(expected, torch.Tensor):
        return _arrays(expected, output, where, torch)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(expected, numpy.ndarray | numpy.generic):
        return _arrays(expected, output, where, numpy)
    if isinstance(expected, tuple | list):
        return _sequences(expected, output, where)
    if isinstance(expected, dict):
        return _dicts(expected, output, where)
    return ""


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"a value of type {name}"


def _arrays(expected: Any, output: Any, where: str, module: Any) -> str:
    if expected.dtype != output.dtype:
        return f"{where} has dtype {output.dtype}, expected {expected.dtype}"
    if expected.shape != output.shape:
        return f"{where} has shape {tuple(output.shape)}, expected {tuple(expected.shape)}"
    if not _may_be_nan(expected):
        return ""
    if bool(module.isnan(output).any()) and not bool(module.isnan(expected).any()):
        return f"{where} contains NaN where the reference has none"
    return ""


def _may_be_nan(array: Any) -> bool:
    name = str(array.dtype).removeprefix("torch.")
    return name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def _sequences(expected: Any, output: Any, where: str) -> str:
    if len(expected) != len(output):
        return f"{where} has {len(output)} items, expected {len(expected)}"
    for index, (mine, theirs) in enumerate(zip(expected, output, strict=True)):
        if found := difference(mine, theirs, f"{where}[{index}]"):
            return found
    return ""


def _dicts(expected: dict[Any, Any], output: dict[Any, Any], where: str) -> str:
    if set(expected) != set(output):
        return f"{where} has keys {sorted(map(str, output))}, expected {sorted(map(str, expected))}"
    for key, mine in expected.items():
        if found := difference(mine, output[key], f"{where}[{key!r}]"):
            return found
    return ""
