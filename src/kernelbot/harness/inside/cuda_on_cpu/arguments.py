"""Tells an extension whose accesses are looked at where the tensors are that it is given."""

import ctypes
import functools
from collections.abc import Callable, Iterator
from typing import Any

from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation


def with_arguments_known(module: Any) -> Any:
    """The extension itself, each of whose functions says so before it runs. What isn't a module of
    Python, and one without such kernels, stays as it is."""
    file = getattr(module, "__file__", None)
    emulation = Emulation.find(ctypes.CDLL(file)) if file else None
    if emulation is not None:
        for name, function in list(vars(module).items()):
            if callable(function) and not isinstance(function, type):
                setattr(module, name, _telling(function, emulation))
    return module


def _telling(function: Callable[..., Any], emulation: Emulation) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        tensors = list(_tensors((*arguments, *options.values())))
        for place, tensor in enumerate(tensors, 1):
            emulation.give(place, tensor.data_ptr(), _extent_bytes(tensor))
        try:
            return function(*arguments, **options)
        finally:
            for place in range(1, len(tensors) + 1):
                emulation.give(place, 0, 0)

    return call


def _tensors(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _tensors(value)
        elif hasattr(value, "data_ptr") and hasattr(value, "stride"):
            yield value


def _extent_bytes(tensor: Any) -> int:
    """From the first element to the last one in memory."""
    if tensor.numel() == 0:
        return 0
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in pairs)
    return int((last + 1) * tensor.element_size())
