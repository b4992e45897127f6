"""Element types that judge and runner exchange, and memory layouts that are preserved."""

from collections.abc import Sequence

NUMPY_DTYPES = frozenset(
    (
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
)
TORCH_DTYPES = NUMPY_DTYPES | {
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
}
ITEM_BYTES = {
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 8),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    "complex128": 16,
}
"""The size of each element that isn't one byte."""
MAX_DIMENSIONS = 32
MAX_ITEMS = 1 << 48


def element_count(shape: Sequence[int]) -> int:
    """How many elements a shape holds; 1 for `()`."""
    count = 1
    for size in shape:
        count *= size
    return count


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a row-major array."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill one range of memory without gap or overlap, in any order."""
    if len(shape) != len(strides):
        return False
    expected = 1
    for stride, size in sorted((st, s) for s, st in zip(shape, strides, strict=True) if s != 1):
        if stride != expected:
            return False
        expected *= size
    return expected > 0


def used_strides(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense array, with 1 for axes of one element.

    Along an axis of one element no step is ever made, so its stride may be anything.
    """
    pairs = zip(shape, strides, strict=True)
    return tuple(step if size > 1 or 0 <= step < MAX_ITEMS else 1 for size, step in pairs)
