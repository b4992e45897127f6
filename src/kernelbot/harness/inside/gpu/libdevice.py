"""Triton's libdevice in Triton's interpreter, for which its functions are names without content.

What types a function takes and gives is in Triton's own tables, first in those for CUDA; what it
computes is in `libdevice_functions`. On a GPU results may differ in the last bits, as they do
between GPUs.
"""

import functools
import importlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from kernelbot.harness.inside.gpu.filling import fill_when_imported

_WITH_TYPES = ("triton.language.extra.cuda.libdevice", "triton.language.extra.hip.libdevice")
_MODULES = ("triton.language.extra.libdevice", *_WITH_TYPES)


def install() -> None:
    """Give the functions their content, in this process until it ends, as soon as something
    imports them. Idempotent."""
    fill_when_imported(_MODULES, _fill)


def _fill(module: ModuleType) -> None:
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if not name.startswith("_") and not hasattr(function, "on_cpu"):
            setattr(module, name, _filled(name, function))


def _filled(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, _semantic: object = None) -> Any:
        del _semantic  # the interpreter has one
        return _computed(name, args)

    call.on_cpu = True  # type: ignore[attr-defined]  # the mark that `_fill` looks for
    return call


def _computed(name: str, args: tuple[Any, ...]) -> Any:
    """The function's value, a tensor of the interpreter's. Raises TypeError for types that it
    doesn't take on a GPU, and NotImplementedError."""
    interpreter: Any = importlib.import_module("triton.runtime.interpreter")
    language: Any = importlib.import_module("triton.language")
    functions = importlib.import_module("kernelbot.harness.inside.gpu.libdevice_functions")
    tensors = [interpreter.interpreter_semantic.to_tensor(value) for value in args]
    given = tuple(tensor.dtype for tensor in tensors)
    result = _types(name).get(given)
    if result is None:
        told = ", ".join(map(str, given))
        known = " or ".join(f"({', '.join(map(str, types))})" for types in _types(name))
        raise TypeError(f"libdevice.{name} takes {known}, not ({told})")
    data = functions.compute(name, [tensor.handle.data for tensor in tensors])
    shapes = [tensor.shape for tensor in tensors if tensor.type.is_block()]
    data = data.astype(interpreter._get_np_dtype(result), copy=False)
    kind = language.block_type(result, list(data.shape)) if shapes else result
    return language.tensor(interpreter.TensorHandle(data, result), kind)


class _Noted:
    """What stands for a function's value while its types are found out."""

    def __init__(self, found: dict[tuple[Any, ...], Any]) -> None:
        self._found = found

    def to(self, kind: Any, **_options: Any) -> "_Noted":
        """The value is converted before it is given: some that ask a question do so."""
        self._found.update(dict.fromkeys(self._found, kind))
        return self


@functools.cache
def _types(name: str) -> dict[tuple[Any, ...], Any]:
    """The type of the result for each of the types of arguments."""
    modules = [importlib.import_module(module) for module in _WITH_TYPES]
    core: Any = importlib.import_module("triton.language.core")
    original = inspect.unwrap(next(getattr(one, name) for one in modules if hasattr(one, name)))
    found: dict[tuple[Any, ...], Any] = {}

    def note(_name: str, _path: str, _args: Any, table: Any, **_options: Any) -> _Noted:
        found.update({types: result for types, (_symbol, result) in table.items()})
        return _Noted(found)

    kept = core.extern_elementwise
    core.extern_elementwise = note
    try:
        count = len(inspect.signature(original).parameters) - 1
        original(*[None] * count, _semantic=None)
    finally:
        core.extern_elementwise = kept
    return found
