"""Bytes of an output, read as soon as its mark is seen and compared with the output copied later.

Between the mark and the freeze some ten microseconds pass, in which a thread on another processor
could continue to write. So the judge chooses places before the call, reads them at once when it
sees the mark, and compares them with the frozen output.
"""

import ctypes
import random
from collections.abc import Sequence
from typing import NamedTuple

from kernelbot.harness.data.elements import Elements

MAX_PROBES = 4
"""Each takes the judge about half a microsecond."""
_PROBE_BYTES = 1024


class Stretch(NamedTuple):
    """The bytes of one of an output's arrays or numbers."""

    offset: int
    """Where they begin in the copy."""
    size: int
    elements: Elements | None = None
    """Where they lie in memory; None: densely, at the address of the mark."""

    def bounds(self, address: int) -> tuple[int, int]:
        """Where they lie: the first address, and how many bytes from there, gaps included."""
        if self.elements is None:
            return address, self.size
        return address + self.elements.low, self.elements.span_bytes


class _Run(NamedTuple):
    """Pieces of bytes that were read at once, and where they lie in the copy."""

    copy_offset: int
    size: int
    pieces: int = 1
    step: int = 0
    copy_step: int = 0

    def differs(self, found: bytes, copy_address: int) -> bool:
        """Whether a piece differs from the copy."""
        return any(
            found[place * self.step :][: self.size]
            != ctypes.string_at(copy_address + self.copy_offset + place * self.copy_step, self.size)
            for place in range(self.pieces)
        )


class _Place(ctypes.Structure):
    _fields_ = (
        ("array", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("length", ctypes.c_uint64),
    )


class Probes(ctypes.Structure):
    """The places to read at a mark; see `struct probes` in marks.c."""

    _fields_ = (
        ("pid", ctypes.c_int64),
        ("arrays", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("were_read", ctypes.c_uint64),
        ("places", _Place * MAX_PROBES),
        ("found", (ctypes.c_ubyte * _PROBE_BYTES) * MAX_PROBES),
    )
    runs: list[_Run]
    """What is compared of each of them; ours alone."""

    @classmethod
    def choose(cls, pid: int, stretches: Sequence[Stretch]) -> "Probes":
        """Random places in the memory of process `pid`.

        `stretches`: those of the expected arrays. Half of the places are distributed over the
        arrays, half over their bytes.
        """
        source = random.SystemRandom()
        probes = cls(pid=pid, arrays=len(stretches))
        probes.runs = []
        sizes = [stretch.size for stretch in stretches]
        filled = [array for array, size in enumerate(sizes) if size]
        if not filled:
            return probes
        half = MAX_PROBES // 2
        weights = [sizes[array] for array in filled]
        chosen = [*source.choices(filled, k=half), *source.choices(filled, weights, k=half)]
        for place, array in zip(probes.places, chosen, strict=True):
            offset, run = _chosen(stretches[array], source)
            probes.runs.append(run)
            place.array, place.offset = array, offset % (1 << 64)
            place.length = run.size + (run.pieces - 1) * run.step
        probes.count = len(chosen)
        return probes

    def count_changed(self, output_address: int, stretches: Sequence[Stretch]) -> int:
        """How many of them differ from the output that is now at an address of ours."""
        return sum(
            run.differs(
                bytes(found)[: place.length], output_address + stretches[place.array].offset
            )
            for run, place, found in zip(self.runs, self.places, self.found, strict=False)
        )


def _chosen(stretch: Stretch, source: random.Random) -> tuple[int, _Run]:
    """A random part of a stretch: where it lies relative to the address of the mark, and what is
    compared of it."""
    elements = stretch.elements
    if elements is None or elements.are_dense:
        length = min(_PROBE_BYTES, stretch.size)
        offset = source.randrange(stretch.size - length + 1)
        return (elements.first if elements else 0) + offset, _Run(offset, length)
    axes, item = elements.axes(), elements.item_bytes
    places = [source.randrange(axis.size) for axis in axes]
    there = sum(place * axis.step for place, axis in zip(places, axes, strict=True))
    copied = sum(place * axis.copy_step for place, axis in zip(places, axes, strict=True))
    inner = axes[-1]
    count = min(inner.size - places[-1], 1 + (_PROBE_BYTES - item) // inner.step)
    run = _Run(elements.lowest_in_copy + copied, item, count, inner.step, inner.copy_step)
    return elements.low + there, run
