"""Bytes of an output taken at the moment of return, which must be those that are copied later.

The runner takes them, at places that the judge has chosen for this call, and lays them in front of
the output in their buffer; `judge/calls/probes.py` chooses and compares.
"""

import ctypes
from collections.abc import Callable

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer

PROBES = 16
PROBE_BYTES = 8
PROBED_LEAVES = 8
OUTPUT_BASE = PROBES * PROBE_BYTES * PROBED_LEAVES
"""Where the output proper begins in its buffer."""
Copy = Callable[[int, int, int], object]
"""Copies to an address, from an address, so many bytes."""


def take(output: SharedBuffer, result: Encoded, probes: list[int], copy_from_gpu: Copy) -> None:
    """Lay the probes of `result` into `output`."""
    place = output.address
    for leaf in result.leaves[:PROBED_LEAVES]:
        copy = copy_from_gpu if leaf.on_gpu else ctypes.memmove
        for probe in probes:
            at, length = within(probe, leaf.size_bytes)
            copy(place, leaf.address + at, length)
            place += PROBE_BYTES


def within(probe: int, size_bytes: int) -> tuple[int, int]:
    """Where a probe lies in an array of that size, and how long it is."""
    return probe % max(size_bytes - PROBE_BYTES + 1, 1), min(PROBE_BYTES, size_bytes)
