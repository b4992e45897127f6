"""One call's data for all ranks."""

from dataclasses import dataclass

from kernelbot.harness.data.encode import Encoded, Leaf
from kernelbot.harness.gpu.device_data import DeviceData


@dataclass(frozen=True)
class Shares:
    """The data of each rank, in the order of the ranks."""

    parts: tuple[Encoded, ...]
    """`DeviceData` if they lie in the judge's memory on each rank's device."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All arrays of all ranks."""
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    def has_content_of(self, other: "Shares") -> bool:
        """Whether each rank has the same bytes on its device. Raises `GpuError`."""
        return all(
            one.has_content_of(its)
            for one, its in zip(self.parts, other.parts, strict=True)
            if isinstance(one, DeviceData) and isinstance(its, DeviceData)
        )
