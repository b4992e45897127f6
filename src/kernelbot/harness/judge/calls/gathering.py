"""Reading an array with gaps, or a reversed one, out of a runner's memory: into a copy without.

Only ranges in which there are elements are read, a megabyte at a time, however far apart they lie.
"""

import ctypes
import importlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from kernelbot.harness.data.elements import BLOCK_BYTES, Elements, MemoryRange
from kernelbot.harness.data.process_memory import read_memory, read_ranges

_MOST_PIECES = 1024
"""That are read together."""


def prepare() -> None:
    """Load what `gather` needs, which takes a tenth of a second: now, while nothing is timed."""
    importlib.import_module("numpy")


def gather(pid: int, address: int, elements: Elements, target: int) -> None:
    """Copy the elements of an array of process `pid` to `target`, in the order in which they lie in
    memory. `address`: the one by which its mark knows it. Raises OSError."""
    if elements.are_dense:
        read_memory(pid, address + elements.first, target, elements.size_bytes)
        return
    numpy: Any = importlib.import_module("numpy")
    block = numpy.empty(min(BLOCK_BYTES, elements.span_bytes), numpy.uint8)
    memory = (ctypes.c_char * elements.size_bytes).from_address(target)
    copy = numpy.frombuffer(memory, numpy.uint8)
    item = numpy.dtype(("V", elements.item_bytes))
    lowest = address + elements.low
    for some in _together(elements.pieces()):
        ranges = [(lowest + piece.offset, piece.size_bytes) for piece in some]
        read_ranges(pid, ranges, block.ctypes.data)
        starts = itertools.accumulate((piece.size_bytes for piece in some), initial=0)
        for piece, start in zip(some, starts, strict=False):
            sizes = [axis.size for axis in piece.axes]
            there = numpy.ndarray(sizes, item, block, start, [axis.step for axis in piece.axes])
            steps = [axis.copy_step for axis in piece.axes]
            here = numpy.ndarray(sizes, item, copy, piece.copy_offset, steps)
            here[...] = there


def _together(pieces: Iterable[MemoryRange]) -> Iterator[list[MemoryRange]]:
    """Pieces that are read at once, all of which fit into a block."""
    some: list[MemoryRange] = []
    size_bytes = 0
    for piece in pieces:
        if len(some) == _MOST_PIECES or size_bytes + piece.size_bytes > BLOCK_BYTES:
            yield some
            some, size_bytes = [], 0
        some.append(piece)
        size_bytes += piece.size_bytes
    if some:
        yield some
