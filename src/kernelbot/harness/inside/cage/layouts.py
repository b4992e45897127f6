"""Where the order in memory is the work, an output with exchanged strides would cost nothing.

So strides are compared if the problem says `contiguous`, or if the reference's output has the
numbers of an input in another order in memory: a transposed copy, NHWC of NCHW. Everywhere else
they are free: a product may well be returned transposed, as a library gives it.
"""

import importlib
import itertools
from collections.abc import Iterator
from typing import Any

from kernelbot.harness.data.encode import record_fields
from kernelbot.harness.inside.cage.comparison import has_dtype, leaves

_MAX_AXES = 6
"""The most axes: with more there are too many orders to try."""
_LOOKS = 4
"""At about so many places of each axis two arrays are compared before all of both."""


def misplaced(expected: Any, output: Any, data: Any, *, contiguous: bool) -> str:
    """One sentence on the first array of `output` whose order in memory is another than it must be;
    empty if there is none. `expected` has the output's kind; None if it isn't known."""
    if contiguous and (other := next(_others(output), None)) is not None:
        return f"{_strides_of(other)}, and this problem asks for contiguous arrays. {_ADVICE}"
    for right, given in _pairs(expected, output):
        if _is_dense(right) and not _is_dense(given) and _is_in_another_order(right, data):
            return (
                f"{_strides_of(given)}, the reference's {_steps(right)}. Here the order in memory "
                f"is the work. {_ADVICE}"
            )
    return ""


_ADVICE = "Return a contiguous copy."


def _others(output: Any) -> Iterator[Any]:
    """Arrays that aren't row-major."""
    return (leaf for leaf in leaves(output) if has_dtype(leaf) and not _is_dense(leaf))


def _pairs(expected: Any, output: Any) -> Iterator[tuple[Any, Any]]:
    """The arrays of two values of one kind."""
    if has_dtype(expected) and has_dtype(output):
        yield expected, output
    elif isinstance(expected, dict):
        for key, part in expected.items():
            yield from _pairs(part, output[key])
    elif isinstance(expected, tuple | list):
        for part, other in zip(expected, output, strict=True):
            yield from _pairs(part, other)
    else:
        for name in record_fields(type(expected)) or ():
            yield from _pairs(getattr(expected, name), getattr(output, name))


def _is_dense(array: Any) -> bool:
    """Whether it is row-major, without gaps."""
    flags = getattr(array, "flags", None)
    return bool(array.is_contiguous() if flags is None else flags.c_contiguous)


def _is_in_another_order(right: Any, data: Any) -> bool:
    """Whether `right` has the numbers of an input, which lie in another order there."""
    return any(
        _is_reordered(right, leaf)
        for leaf in leaves(data)
        if has_dtype(leaf) and type(leaf) is type(right) and 1 < leaf.ndim <= _MAX_AXES
    )


def _is_reordered(right: Any, given: Any) -> bool:
    """The same of one input. If it has them in the same order as well, say because it is symmetric,
    nothing had to be moved."""
    found = False
    for axes in itertools.permutations(range(given.ndim)):
        view = given.transpose(axes) if hasattr(given, "strides") else given.permute(axes)
        if tuple(view.shape) == tuple(right.shape) and _are_equal(view, right):
            if _is_dense(view):
                return False
            found = True
    return found


def _are_equal(view: Any, right: Any) -> bool:
    if str(getattr(view, "device", "")) != str(getattr(right, "device", "")):
        return False
    some = tuple(slice(None, None, max(size // _LOOKS, 1)) for size in right.shape)
    return _have_equal_numbers(view[some], right[some]) and _have_equal_numbers(view, right)


def _have_equal_numbers(array: Any, right: Any) -> bool:
    """After a change to the type of `right`: narrowing numbers is no other order."""
    if array.dtype != right.dtype:
        if "float4" in f"{array.dtype} {right.dtype}":
            return False
        array = array.astype(right.dtype) if hasattr(array, "astype") else array.to(right.dtype)
    if "float8" in str(right.dtype) or "float4" in str(right.dtype):
        byte = importlib.import_module("torch").uint8  # such numbers torch doesn't compare
        array, right = array.view(byte), right.view(byte)
    return bool((array == right).all())


def _strides_of(array: Any) -> str:
    return f"The output of shape {tuple(array.shape)} has the strides {_steps(array)}"


def _steps(array: Any) -> tuple[int, ...]:
    """Strides in elements."""
    if hasattr(array, "stride"):
        return tuple(array.stride())
    return tuple(step // max(array.itemsize, 1) for step in array.strides)
