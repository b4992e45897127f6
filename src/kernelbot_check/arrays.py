"""What numpy's arrays and torch's tensors have in common, as a checker needs it."""

import sys
from typing import Any


def library(value: Any) -> Any:
    """The module that `value` is an array of, numpy or torch; None where it is no array.

    Looks at what is imported already: an array of a library that isn't can't exist.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return torch
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return numpy
    return None


def dtype_name(value: Any) -> str:
    """`float32`, `bfloat16`, `int64`, ... of either library."""
    return str(value.dtype).removeprefix("torch.")


def device_name(value: Any) -> str:
    """Where a tensor lies; `cpu` for numpy's."""
    return str(getattr(value, "device", "cpu"))


def doubled(value: Any) -> Any:
    """The value as float64 (complex128 for complex numbers), where differences can be taken
    exactly."""
    module = library(value)
    wide = "complex128" if dtype_name(value).startswith("complex") else "float64"
    if module is sys.modules.get("torch"):
        return value.detach().to(getattr(module, wide))
    return value.astype(wide)


def is_exact(value: Any) -> bool:
    """Whether its numbers are whole or truth values: a tolerance makes no sense for them."""
    return not dtype_name(value).startswith(("float", "bfloat", "complex"))


def index_text(flat: int, shape: tuple[int, ...]) -> str:
    """`[2, 0, 17]` for a position in the flattened array."""
    place: list[int] = []
    for size in reversed(shape):
        flat, rest = divmod(flat, size)
        place.append(rest)
    return str(list(reversed(place)))
