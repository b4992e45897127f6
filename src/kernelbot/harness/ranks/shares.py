"""One call's data for all ranks."""

from dataclasses import dataclass

from kernelbot.harness.data.encode import Encoded, Leaf


@dataclass(frozen=True)
class Shares:
    """The data of each rank, in the order of the ranks."""

    parts: tuple[Encoded, ...]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All arrays of all ranks."""
        return tuple(leaf for part in self.parts for leaf in part.leaves)
