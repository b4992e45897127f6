"""Calling an author's shared object from the runner: leaves of the data become C arguments.

Arrays are passed as pointers, ints as int64_t, floats as double, bools as bool, in data order.
"""

import ctypes
import dataclasses
import importlib
import mmap
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from kernelbot.harness.data.encode import record_fields
from kernelbot.harness.inside.cuda_on_cpu.emulation import Emulation

GUARD_BYTES = 256
"""Keeps outputs aligned like a GPU's allocator: kernels may rely on that."""
GUARD = 0xA5
_MAPPED_BYTES = 128 << 10
"""From here on an output has pages of its own. What an allocator makes of so large a block, it
decides anew in each process: pages that it still has, or new ones, which cost ten times as much. Of
two runners that do the same, one would seem to work before its calls."""
_POPULATED = getattr(mmap, "MAP_POPULATE", 0)
SYMBOL = "custom_kernel"


Room = Callable[[Any, str, int], Any]
"""A flat tensor of bytes, by torch, device and size."""


class TimedKernel(Protocol):
    """What the runner times: `function(*arguments(data))`; the rest isn't timed."""

    @property
    def function(self) -> Callable[..., Any]:
        """The author's code."""

    def for_call(self) -> "TimedKernel":
        """The same kernel, for a call beside others: each has arguments and an output."""

    def arguments(self, data: Any) -> tuple[Any, ...]:
        """The arguments of `function`."""

    def filled(self) -> Any:
        """The object that the call fills with its result; None if it returns the result."""

    def output(self, returned: Any) -> Any:
        """The call's result. Raises `OutOfBounds`."""


class OutOfBounds(Exception):
    """The kernel wrote before or after its output."""


@dataclasses.dataclass
class PythonKernel:
    """A Python function of the data."""

    function: Callable[..., Any]

    def for_call(self) -> "PythonKernel":
        """The same object: it stores nothing about a call."""
        return self

    def arguments(self, data: Any) -> tuple[Any, ...]:
        """The data itself."""
        return (data,)

    def filled(self) -> Any:
        """None: it returns its output."""
        return None

    def output(self, returned: Any) -> Any:
        """What it returned."""
        return returned


class MissingSymbol(Exception):
    """The shared object exports no `custom_kernel`."""


class CompiledKernel:
    """`extern "C" void custom_kernel(...)` of a shared object."""

    def __init__(self, function: Callable[..., Any], outputs: Sequence[int]) -> None:
        """`outputs`: indices of the leaves that are outputs; empty: the last array."""
        self.function = function
        self._outputs = tuple(outputs)
        self.room: Room | None = None
        """Where outputs on a GPU lie; None: in memory of their own. The judge has filled it with
        the pattern, and looks at the guard bytes itself."""
        self.emulation: Emulation | None = None
        """What runs CUDA kernels on the processor, if they are in the shared object."""
        self._guarded: list[_Guarded] = []

    def for_call(self) -> "CompiledKernel":
        """A kernel of the same function, with outputs of its own."""
        kernel = type(self)(self.function, self._outputs)
        kernel.emulation = self.emulation
        return kernel

    @classmethod
    def load(
        cls, path: Path, outputs: Sequence[int], *, emulates: bool = False
    ) -> "CompiledKernel":
        """The kernel of the shared object at `path`. Raises OSError or `MissingSymbol`.

        `emulates`: its CUDA kernels run on the processor, so it is asked about them beside each
        call. Of any other object that would be code of the author's outside of the marks.
        """
        library = ctypes.CDLL(str(path))
        try:
            function = getattr(library, SYMBOL)
        except AttributeError as error:
            raise MissingSymbol from error
        function.restype = None
        kernel = cls(function, outputs)
        kernel.emulation = Emulation.find(library) if emulates else None
        return kernel

    def arguments(self, data: Any) -> tuple[Any, ...]:
        """C arguments; outputs point to fresh memory with a pattern, between guard bytes."""
        leaves = list(_leaves(data))
        arrays = [index for index, leaf in enumerate(leaves) if _is_array(leaf)]
        outputs = self._outputs or tuple(arrays[-1:])
        self._guarded = []
        arguments: list[Any] = []
        for index, leaf in enumerate(leaves):
            if index in outputs and _is_array(leaf):
                self._guarded.append(_Guarded(leaf, self.room))
                leaf = self._guarded[-1].array
            if self.emulation is not None and _is_array(leaf):
                self.emulation.give(index + 1, *_stretch(leaf))
            arguments.append(_c_argument(leaf))
        return tuple(arguments)

    def filled(self) -> Any:
        """The output array, or a tuple of them if there are several."""
        arrays = tuple(guarded.array for guarded in self._guarded)
        return arrays[0] if len(arrays) == 1 else arrays

    def output(self, returned: Any) -> Any:  # noqa: ARG002 (a void function)
        """The output array that it filled, or a tuple of several. Raises `OutOfBounds`, and
        RuntimeError if a kernel that the processor ran has failed."""
        if self.emulation is not None:
            self.emulation.expect_no_error()
        if not all(guarded.is_intact() for guarded in self._guarded):
            raise OutOfBounds
        return self.filled()


class UncalledKernel(CompiledKernel):
    """Gets ready as a compiled kernel does, with outputs of the same sizes, and is never called: it
    has no output. What getting ready costs is no author's work."""

    def filled(self) -> Any:
        """None: nothing fills it."""
        return None

    def output(self, returned: Any) -> Any:  # noqa: ARG002 (there was no call)
        """None."""
        return None


class _Guarded:
    """An array like another one, filled with a pattern, with guard bytes on both sides."""

    def __init__(self, like: Any, room: Room | None = None) -> None:
        numpy: Any = sys.modules.get("numpy")
        self._is_judges = False
        if numpy is not None and type(like) is numpy.ndarray:
            total = like.nbytes + 2 * GUARD_BYTES
            if total < _MAPPED_BYTES:
                self._memory = numpy.full(total, GUARD, numpy.uint8)
            else:
                self._memory = numpy.frombuffer(_mapped(total), numpy.uint8)
                self._memory.fill(GUARD)
            inner = self._memory[GUARD_BYTES : GUARD_BYTES + like.nbytes]
            self.array = inner.view(like.dtype).reshape(like.shape)
            return
        torch: Any = importlib.import_module("torch")
        size = like.numel() * like.element_size()
        total = size + 2 * GUARD_BYTES
        if room is not None and like.device.type != "cpu":
            self._is_judges = True
            self._memory = room(torch, str(like.device), total)
        elif like.device.type != "cpu" or total < _MAPPED_BYTES:
            self._memory = torch.full((total,), GUARD, dtype=torch.uint8, device=like.device)
        else:
            self._memory = torch.frombuffer(_mapped(total), dtype=torch.uint8).fill_(GUARD)
        self.array = (
            self._memory[GUARD_BYTES : GUARD_BYTES + size].view(like.dtype).reshape(like.shape)
        )

    def is_intact(self) -> bool:
        """Whether all guard bytes are what they were; the judge looks at those in its memory."""
        if self._is_judges:
            return True
        before, behind = self._memory[:GUARD_BYTES], self._memory[-GUARD_BYTES:]
        return bool((before == GUARD).all() and (behind == GUARD).all())


def _mapped(size_bytes: int) -> mmap.mmap:
    """New pages, which are given back with the array over them."""
    return mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _POPULATED)


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, tuple | list):
        for item in data:
            yield from _leaves(item)
    elif isinstance(data, dict):
        for item in data.values():
            yield from _leaves(item)
    elif (names := record_fields(type(data))) is not None:
        for name in names:
            yield from _leaves(getattr(data, name))
    elif hasattr(data, "__dict__") and not _is_array(data):  # an object of the problem's
        yield from _leaves(vars(data))
    else:
        yield data


def first_array(data: Any) -> Any:
    """The first array in `data`, as a typical output; `data` itself if it has none."""
    return next((leaf for leaf in _leaves(data) if _is_array(leaf)), data)


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "data_ptr") or hasattr(leaf, "ctypes")


def _stretch(array: Any) -> tuple[int, int]:
    """Where an array begins, and how many bytes it has without gaps."""
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), array.numel() * array.element_size()
    return array.ctypes.data, array.nbytes


def _c_argument(leaf: Any) -> Any:
    if isinstance(leaf, bool):
        return ctypes.c_bool(leaf)
    if isinstance(leaf, int):
        return ctypes.c_int64(leaf)
    if isinstance(leaf, float):
        return ctypes.c_double(leaf)
    if hasattr(leaf, "data_ptr"):
        return ctypes.c_void_p(leaf.data_ptr())
    if hasattr(leaf, "ctypes"):
        return ctypes.c_void_p(leaf.ctypes.data)
    raise TypeError(f"a compiled kernel can't be given a value of type {type(leaf).__name__}")
