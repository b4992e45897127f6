"""How to find the bytes of an output's arrays and numbers in memory, without calling Python.

`marks.c` follows what is found here, once for each process, by trial: where in the objects of the
loaded frameworks the pointers are that lead to their bytes.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.harness.data.dtypes import NUMPY_DTYPES
from kernelbot.harness.data.encode import scalar_bytes

_MAX_STEPS = 4
_SCALARS = 16
_KINDS = 2
_FLOAT_BYTES = 8
FLOAT_OFFSET = float.__basicsize__ - _FLOAT_BYTES
"""A float is an object and, behind that, its bytes."""
_WORD = ctypes.sizeof(ctypes.c_void_p)
_SEARCHED_BYTES = 256
"""How many bytes of a framework's object are searched for a pointer."""
_END_OF_MEMORY = 1 << 63
CONSTANTS: tuple[type, ...] = (type(None), bool, int, str)
"""Parts of an output that have no bytes at a mark: they must be those of the call before."""


class _KnownType(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_void_p),
        ("steps", ctypes.c_int64),
        ("offsets", ctypes.c_int64 * _MAX_STEPS),
    )


class KnownTypes(ctypes.Structure):
    """The types for which the library knows how to find their bytes."""

    _fields_ = (
        ("type_offset", ctypes.c_int64),
        ("tuple_type", ctypes.c_void_p),
        ("list_type", ctypes.c_void_p),
        ("dict_type", ctypes.c_void_p),
        ("float_type", ctypes.c_void_p),
        ("float_offset", ctypes.c_int64),
        ("constants", ctypes.c_void_p * len(CONSTANTS)),
        ("scalar_offset", ctypes.c_int64),
        ("scalars", ctypes.c_void_p * _SCALARS),
        ("kinds", ctypes.c_int64),
        ("kind", _KnownType * _KINDS),
    )


@dataclass(frozen=True)
class _Sample:
    """An object of a framework, and the address of its bytes."""

    thing: object
    address: int


def known_types() -> KnownTypes:
    """How to find the bytes of the loaded frameworks' arrays."""
    known = KnownTypes(type_offset=_WORD, tuple_type=id(tuple), list_type=id(list))
    known.dict_type, known.float_type = id(dict), id(float)
    known.float_offset = FLOAT_OFFSET
    for place, constant in enumerate(CONSTANTS):
        known.constants[place] = id(constant)
    for place, (scalar, offset) in enumerate(_scalars()[:_SCALARS]):
        known.scalars[place], known.scalar_offset = id(scalar), offset
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        finder = _AddressFinder(memory.fileno())
        for samples in _samples():
            offsets = finder.way(samples)
            if offsets is not None and _has_type_at(samples[0].thing, _WORD):
                _add_kind(known, type(samples[0].thing), offsets)
    return known


def _add_kind(known: KnownTypes, of: type, offsets: tuple[int, ...]) -> None:
    kind = known.kind[known.kinds]
    kind.type, kind.steps = id(of), len(offsets)
    for step, offset in enumerate(offsets):
        kind.offsets[step] = offset
    known.kinds += 1


def _has_type_at(thing: object, offset: int) -> bool:
    return ctypes.c_void_p.from_address(id(thing) + offset).value == id(type(thing))


def _samples() -> Iterator[tuple[_Sample, ...]]:
    """Arrays of several shapes, by framework."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        arrays = [numpy.zeros(size, dtype) for size in (3, (4, 5)) for dtype in ("f8", "u1")]
        yield tuple(_Sample(one, one.ctypes.data) for one in arrays)
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "zeros"):
        dtypes = (torch.float32, torch.uint8)
        tensors = [torch.zeros(size, dtype=dtype) for size in (3, (4, 5)) for dtype in dtypes]
        yield tuple(_Sample(one, one.data_ptr()) for one in tensors)


def _scalars() -> list[tuple[type, int]]:
    """NumPy's types of scalars, and how far into an object of each its bytes lie: all alike."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return []
    ones = [numpy.dtype(name).type(1) for name in sorted(NUMPY_DTYPES)]
    found = [(type(one), scalar_bytes(one).ctypes.data - id(one)) for one in ones]
    return [one for one in found if one[1] == found[0][1]]


class _AddressFinder:
    """Finds by trial how a framework's objects lead to their bytes."""

    def __init__(self, memory_fd: int) -> None:
        """`memory_fd`: this process's own memory, so that reading a bad pointer only fails."""
        self._memory_fd = memory_fd

    def way(self, samples: tuple[_Sample, ...]) -> tuple[int, ...] | None:
        """The offsets to follow from each of the objects to its bytes; None if there are none."""
        first = samples[0]
        for steps in range(1, _MAX_STEPS):
            for offsets in self._ways(id(first.thing), first.address, steps):
                if all(self._follow(id(one.thing), offsets) == one.address for one in samples):
                    return offsets
        return None

    def _ways(self, place: int, target: int, steps: int) -> Iterator[tuple[int, ...]]:
        for offset, word in self._words(place).items():
            if steps == 1:
                if word == target:
                    yield (offset,)
            elif word:
                yield from ((offset, *rest) for rest in self._ways(word, target, steps - 1))

    def _follow(self, place: int, offsets: tuple[int, ...]) -> int:
        for offset in offsets:
            place = self._words(place).get(offset, 0)
        return place

    def _words(self, place: int) -> dict[int, int]:
        """Words of an object that may be pointers, by offset; empty if it isn't readable memory."""
        found = b""
        with contextlib.suppress(OSError):
            if place % _WORD == 0 and 0 < place < _END_OF_MEMORY:
                found = os.pread(self._memory_fd, _SEARCHED_BYTES, place)
        words = memoryview(found[: len(found) - len(found) % _WORD]).cast("P")
        return {number * _WORD: word for number, word in enumerate(words)}
