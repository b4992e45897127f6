"""Where the elements of an array lie in memory that has gaps between them, or that is reversed.

Such an array is described where it lies, and the judge reads it there: copying it isn't in any
time. A copy has its elements without gaps, in the order in which they lie in memory, so that what
depends on that order can be told of it.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kernelbot.harness.data.dtypes import MAX_DIMENSIONS, MAX_ITEMS, contiguous_strides

MAX_PIECES = 1 << 15
"""The most pieces of an array that is read where it lies: some 3 us each."""
MOST_PIECES = 1 << 17
"""The most pieces of all arrays of an output: while they are read, nobody's time runs out."""
MOST_READ_BYTES = 32 << 30
"""The most bytes that are read for all of them, gaps included: as many take some ten seconds."""
BLOCK_BYTES = 1 << 20
"""At most so much is read at once, with the gaps in it."""
_PAGE = 4096
_MOST_ITEM_BYTES = 16


class Axis(NamedTuple):
    """An axis, in the order of addresses: from its lowest element on."""

    step: int
    """In memory, in bytes."""
    size: int
    copy_step: int
    """In the copy, in bytes; negative if the array is reversed along this axis."""


class MemoryRange(NamedTuple):
    """A range of memory in which elements are."""

    offset: int
    """From the lowest byte of the array."""
    size_bytes: int
    copy_offset: int
    """Where its first element lies in the copy."""
    axes: tuple[Axis, ...]


@dataclass(frozen=True)
class Elements:
    """The elements of an array, relative to the address by which a mark knows it."""

    first: int
    """Where the one lies whose indices are all 0, in bytes."""
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    """Along each axis, in bytes."""
    item_bytes: int

    @property
    def size_bytes(self) -> int:
        """The size of all elements together."""
        return math.prod(self.shape) * self.item_bytes

    @property
    def low(self) -> int:
        """Where the lowest byte lies."""
        return self.first + sum((size - 1) * min(step, 0) for step, size in self._used())

    @property
    def span_bytes(self) -> int:
        """From the lowest byte to the highest, gaps included."""
        return self.item_bytes + sum((size - 1) * abs(step) for step, size in self._used())

    @property
    def are_apart(self) -> bool:
        """Whether no two certainly share a byte."""
        span = self.item_bytes
        for step, size in self._upwards():
            if step < span:
                return False
            span += (size - 1) * step
        return True

    @property
    def are_dense(self) -> bool:
        """Whether they fill their memory without gap or overlap, and aren't reversed."""
        return self.span_bytes == self.size_bytes and self.are_apart and self.low == self.first

    def copy_strides(self) -> tuple[int, ...]:
        """Strides of a copy without gaps that keeps the order of axes in memory, in elements."""
        strides = list(contiguous_strides(self.shape))
        dense = 1
        order = sorted(
            (axis for axis, size in enumerate(self.shape) if size != 1),
            key=lambda axis: (abs(self.steps[axis]), -axis),
        )
        for axis in order:
            strides[axis], dense = dense, dense * self.shape[axis]
        return tuple(strides)

    def axes(self) -> list[Axis]:
        """The axes of more than one element, the one with the largest steps first."""
        copied = [stride * self.item_bytes for stride in self.copy_strides()]
        found = [
            Axis(abs(step), size, mine if step > 0 else -mine)
            for step, size, mine in zip(self.steps, self.shape, copied, strict=True)
            if size > 1
        ]
        return sorted(found, reverse=True)

    @property
    def lowest_in_copy(self) -> int:
        """Where the element with the lowest address lies in the copy, in bytes."""
        return sum((axis.size - 1) * -axis.copy_step for axis in self.axes() if axis.copy_step < 0)

    def count_pieces(self) -> int:
        """How many pieces there are."""
        outer, split, chunk, _ = self._plan()
        return math.prod(axis.size for axis in outer) * (
            -(-split.size // chunk) if split is not None else 1
        )

    @property
    def read_bytes(self) -> int:
        """How many bytes all pieces have, gaps included."""
        outer, split, chunk, inner = self._plan()
        size_bytes = self.item_bytes + sum((axis.size - 1) * axis.step for axis in inner)
        if split is not None:
            parts = -(-split.size // chunk)
            size_bytes = parts * size_bytes + (split.size - parts) * split.step
        return math.prod(axis.size for axis in outer) * size_bytes

    def pieces(self) -> Iterator[MemoryRange]:
        """All of them. Between two elements of a piece there is no page without one: where there
        are elements there is memory, between them there may be none."""
        outer, split, chunk, inner = self._plan()
        span = self.item_bytes + sum((axis.size - 1) * axis.step for axis in inner)
        lowest = self.lowest_in_copy
        starts = range(0, split.size, chunk) if split is not None else range(1)
        for places in itertools.product(*(range(axis.size) for axis in outer)):
            offset = sum(place * axis.step for place, axis in zip(places, outer, strict=True))
            copied = lowest + sum(
                place * axis.copy_step for place, axis in zip(places, outer, strict=True)
            )
            for start in starts:
                if split is None:
                    yield MemoryRange(offset, span, copied, tuple(inner))
                    continue
                count = min(chunk, split.size - start)
                yield MemoryRange(
                    offset + start * split.step,
                    span + (count - 1) * split.step,
                    copied + start * split.copy_step,
                    (split._replace(size=count), *inner),
                )

    def _plan(self) -> tuple[list[Axis], Axis | None, int, list[Axis]]:
        """The axes each of whose places has pieces of its own; the one that is cut into pieces, and
        by how many places; those that are in a piece."""
        outer, span = self.axes(), self.item_bytes
        inner: list[Axis] = []
        while outer and outer[-1].step - span < _PAGE:
            axis = outer.pop()
            chunk = (BLOCK_BYTES - span) // axis.step + 1
            if chunk < axis.size:
                return outer, axis, max(chunk, 1), inner
            inner.insert(0, axis)
            span += (axis.size - 1) * axis.step
        return outer, None, 1, inner

    def _used(self) -> list[tuple[int, int]]:
        return [pair for pair in zip(self.steps, self.shape, strict=True) if pair[1] > 1]

    def _upwards(self) -> list[tuple[int, int]]:
        return sorted((abs(step), size) for step, size in self._used())


def elements_of(node: dict[str, Any]) -> Elements | None:
    """What the node of an array says of where its elements lie; None if they lie densely at its
    address. Raises ValueError if that can't be read; other errors if it's no such node."""
    told = node.get("at")
    if told is None:
        return None
    shape, size_bytes = tuple(node["s"]), node["n"]
    if not 0 < len(told) == len(shape) + 1 <= MAX_DIMENSIONS + 1:
        raise ValueError("elements at a malformed place")
    if any(type(one) is not int or not -MAX_ITEMS < one < MAX_ITEMS for one in told):
        raise ValueError("elements at a malformed place")
    if any(type(size) is not int or not 0 < size < MAX_ITEMS for size in shape):
        raise ValueError("elements of a malformed shape")
    item_bytes, left = divmod(size_bytes, math.prod(shape))
    if left or not 0 < item_bytes <= _MOST_ITEM_BYTES:
        raise ValueError("elements that don't match their bytes")
    found = Elements(told[0], shape, tuple(told[1:]), item_bytes)
    if not can_be_read(found):
        raise ValueError("elements that share bytes, or in too many pieces")
    return found


class ReadingCost:
    """What it takes to read all arrays of an output where they lie."""

    def __init__(self) -> None:
        self._pieces = self._bytes = 0

    def add(self, elements: Elements) -> bool:
        """Add an array, unless that is too much together; whether it isn't."""
        if elements.are_dense:
            return True
        pieces = self._pieces + elements.count_pieces()
        size_bytes = self._bytes + elements.read_bytes
        if pieces > MOST_PIECES or size_bytes > MOST_READ_BYTES:
            return False
        self._pieces, self._bytes = pieces, size_bytes
        return True


def expect_quick_to_read(arrays: Iterable[Elements]) -> None:
    """Raise ValueError if reading arrays where they lie takes too much together."""
    cost = ReadingCost()
    if not all(map(cost.add, arrays)):
        raise ValueError("arrays that lie in too many pieces, or too far apart")


def can_be_read(elements: Elements) -> bool:
    """Whether they can be read where they lie, rather than copied before. Those that share bytes
    are fewer in memory than in a copy: there, copying is work."""
    return elements.are_apart and elements.count_pieces() <= MAX_PIECES


def lying_at(first: int, shape: Sequence[int], steps: Sequence[int], item_bytes: int) -> Elements:
    """Elements with steps in bytes; along an axis of one element no step is ever made."""
    used = (step if size > 1 else item_bytes for size, step in zip(shape, steps, strict=True))
    return Elements(first, tuple(shape), tuple(used), item_bytes)
