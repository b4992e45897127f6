"""One call's data for all ranks."""

from dataclasses import dataclass

from kernelbot.harness.data.encode import Encoded


@dataclass(frozen=True)
class Shares:
    """The data of each rank, in the order of the ranks."""

    parts: tuple[Encoded, ...]
    """`DeviceData` if they lie in the judge's memory on each rank's device."""
