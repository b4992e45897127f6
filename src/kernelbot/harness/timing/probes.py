"""Bytes of an output, read as soon as its mark is seen and compared with the output copied later.

Between the mark and the freeze some ten microseconds pass, in which a thread on another processor
could continue to write. So the judge chooses places before the call, reads them at once when it
sees the mark, and compares them with the frozen output.
"""

import ctypes
import random
from collections.abc import Sequence

MAX_PROBES = 4
"""Each takes the judge about half a microsecond."""
_PROBE_BYTES = 1024

Stretch = tuple[int, int]
"""Offset and size in bytes of one of an output's arrays."""


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

    @classmethod
    def choose(cls, pid: int, stretches: Sequence[Stretch]) -> "Probes":
        """Random places in the memory of process `pid`.

        `stretches`: those of the expected arrays. Half of the places are distributed over the
        arrays, half over their bytes.
        """
        source = random.SystemRandom()
        probes = cls(pid=pid, arrays=len(stretches))
        sizes = [size for _, size in stretches]
        filled = [array for array, size in enumerate(sizes) if size]
        if not filled:
            return probes
        half = MAX_PROBES // 2
        weights = [sizes[array] for array in filled]
        chosen = [*source.choices(filled, k=half), *source.choices(filled, weights, k=half)]
        for place, array in zip(probes.places, chosen, strict=True):
            place.array, place.length = array, min(_PROBE_BYTES, sizes[array])
            place.offset = source.randrange(sizes[array] - place.length + 1)
        probes.count = len(chosen)
        return probes

    def count_changed(self, output_address: int, stretches: Sequence[Stretch]) -> int:
        """How many of them differ from the output that is now at an address of ours."""
        changed = 0
        for place, found in zip(self.places[: self.count], self.found, strict=False):
            address = output_address + stretches[place.array][0] + place.offset
            changed += bytes(found)[: place.length] != ctypes.string_at(address, place.length)
        return changed
