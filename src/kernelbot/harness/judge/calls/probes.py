"""Bytes of an output taken at the moment of return, which must be those that are copied later.

The runner takes them, at places that the judge has chosen for this call, and lays them in front of
the output in their buffer; the judge compares.
"""

import ctypes
import random
from collections.abc import Callable

from kernelbot.harness.data.encode import Encoded, Json, leaf_sizes
from kernelbot.harness.data.shared_memory import SharedBuffer

_PROBES = 16
_PROBE_BYTES = 8
_PROBED_LEAVES = 8
OUTPUT_BASE = _PROBES * _PROBE_BYTES * _PROBED_LEAVES
"""Where the output proper begins in its buffer."""

Copy = Callable[[int, int, int], object]
"""Copies to an address, from an address, so many bytes."""


def choose() -> list[int]:
    """Places known to nobody before, for outputs of any size."""
    source = random.SystemRandom()
    return [source.getrandbits(40) for _ in range(_PROBES)]


def take(output: SharedBuffer, result: Encoded, probes: list[int], copy_from_gpu: Copy) -> None:
    """Lay the probes of `result` into `output`."""
    place = output.address
    for leaf in result.leaves[:_PROBED_LEAVES]:
        copy = copy_from_gpu if leaf.on_gpu else ctypes.memmove
        for probe in probes:
            at, length = _within(probe, leaf.size_bytes)
            copy(place, leaf.address + at, length)
            place += _PROBE_BYTES


def count_changed(output: SharedBuffer, skeleton: Json, probes: list[int]) -> int:
    """How many of the probes differ from the output that lies behind them."""
    place, changed = 0, 0
    for offset, size in list(leaf_sizes(skeleton))[:_PROBED_LEAVES]:
        for probe in probes:
            at, length = _within(probe, size)
            first = output.read(place, length)
            changed += first != output.read(OUTPUT_BASE + offset + at, length)
            place += _PROBE_BYTES
    return changed


def _within(probe: int, size_bytes: int) -> tuple[int, int]:
    """Where the probe lies in an array of that size, and how long it is."""
    return probe % max(size_bytes - _PROBE_BYTES + 1, 1), min(_PROBE_BYTES, size_bytes)
