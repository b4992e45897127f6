"""How an output differs in kind from the reference's: before any checker looks at its numbers."""

import sys
from typing import Any

from kernelbot.harness.values import TORCH_RESULTS


def difference(expected: Any, output: Any, where: str = "the output") -> str:
    """One sentence on the first difference in type, shape, dtype, device or NaN; empty if none.

    Values are the checker's business, not this function's.
    """
    if _type(expected) is not _type(output):
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


def narrowed(expected: Any, output: Any) -> Any:
    """`expected` with its float64 arrays in the narrower float type that `output` has there.

    References work in float64 to check results of a lower precision; their dtype is then no demand.
    """
    if isinstance(expected, tuple | list) and isinstance(output, tuple | list):
        pairs = zip(expected, output, strict=False)
        return _type(expected)([narrowed(mine, theirs) for mine, theirs in pairs])
    if _dtype_name(expected) != "float64" or _dtype_name(output) not in _NARROWER:
        return expected
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(expected, torch.Tensor):
        return expected.to(output.dtype)
    return expected.astype(output.dtype)


def holds_float64(value: Any) -> bool:
    """Whether an array of doubles is anywhere in plain data."""
    if isinstance(value, tuple | list):
        return any(holds_float64(part) for part in value)
    if isinstance(value, dict):
        return any(holds_float64(part) for part in value.values())
    return _dtype_name(value) == "float64"


_NARROWER = ("float32", "float16", "bfloat16")


def _dtype_name(value: Any) -> str:
    return str(getattr(value, "dtype", "")).removeprefix("torch.")


def _type(value: Any) -> type:
    """The type that counts: torch's named results are tuples."""
    kind = type(value)
    return tuple if kind.__module__ == TORCH_RESULTS else kind


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
    theirs, ours = getattr(output, "device", None), getattr(expected, "device", None)
    if theirs != ours:
        return f"{where} is on the device {theirs}, expected {ours}"
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
