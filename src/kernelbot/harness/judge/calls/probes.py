"""The judge's half of probes: where the runner takes bytes at a call's return, and whether the
output still has them; see `inside/runner/probes.py`."""

import random

from kernelbot.harness.data.encode import Json
from kernelbot.harness.data.leaves import leaf_sizes
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.runner.probes import (
    OUTPUT_BASE,
    PROBE_BYTES,
    PROBED_LEAVES,
    PROBES,
    within,
)


def choose() -> list[int]:
    """Places known to nobody before, for outputs of any size."""
    source = random.SystemRandom()
    return [source.getrandbits(40) for _ in range(PROBES)]


def count_changed(output: SharedBuffer, skeleton: Json, probes: list[int]) -> int:
    """How many of the probes differ from the output that lies behind them."""
    place, changed = 0, 0
    for offset, size in list(leaf_sizes(skeleton))[:PROBED_LEAVES]:
        for probe in probes:
            at, length = within(probe, size)
            first = output.read(place, length)
            changed += first != output.read(OUTPUT_BASE + offset + at, length)
            place += PROBE_BYTES
    return changed
