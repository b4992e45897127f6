"""What of an output lies in memory at its mark, and what only its description says.

The description comes later, when a kernel may compute again. So it decides nothing: the bytes of
arrays and floats are those that were read at the mark, and everything else must be as in the call
before, when this call's data was unknown.
"""

import struct
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.elements import elements_of
from kernelbot.harness.data.encode import Json
from kernelbot.harness.inside.marks.probes import Stretch

_FLOAT_BYTES = 8
_ARRAYS = ("tensor", "array", "scalar")
_SEQUENCES = ("tuple", "list")
_KEYED = ("dict", "record")


@dataclass(frozen=True)
class OutputForm:
    """An output without the content of its arrays and floats."""

    frame: Json
    """Everything that isn't bytes."""
    stretches: tuple[Stretch, ...]
    """For each array and float in their order: where its bytes lie in the copy, and how many."""
    floats: tuple[tuple[int, str], ...]
    """The index of each float among them, and its value as described."""

    @property
    def arrays(self) -> tuple[int, ...]:
        """The places of the arrays."""
        floats = {index for index, _ in self.floats}
        return tuple(index for index in range(len(self.stretches)) if index not in floats)

    def has_frame_of(self, other: "OutputForm") -> bool:
        """Whether only bytes differ between the two."""
        mine, theirs = (self.frame, self.stretches), (other.frame, other.stretches)
        return mine == theirs and [index for index, _ in self.floats] == [
            index for index, _ in other.floats
        ]

    def floats_are(self, read: Any) -> bool:
        """Whether the described floats are those that `read` gives, by offset and size."""
        return all(
            struct.unpack("d", read(*self.stretches[index][:2]))[0].hex() == value
            for index, value in self.floats
        )


def form_of(skeleton: Json) -> OutputForm | None:
    """The form of a described output; None if a mark can't tell where all of it lies.

    A hostile description may raise anything.
    """
    walk = _Walk()
    frame = walk.frame(skeleton)
    if not walk.is_known:
        return None
    end = max((one.offset + one.size for one in walk.stretches if one.offset >= 0), default=0)
    stretches, behind = [], -(-end // _FLOAT_BYTES) * _FLOAT_BYTES
    for one in walk.stretches:
        stretches.append(one if one.offset >= 0 else one._replace(offset=behind))
        behind += one.size if one.offset < 0 else 0
    return OutputForm(frame, tuple(stretches), tuple(walk.floats))


class _Walk:
    def __init__(self) -> None:
        self.is_known = True
        self.stretches: list[Stretch] = []
        """A float's begins at -1: it lies behind all arrays."""
        self.floats: list[tuple[int, str]] = []

    def frame(self, node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        kind = node["t"]
        if kind in _ARRAYS:
            self.stretches.append(Stretch(node["o"], node["n"], elements_of(node)))
            return kind, node["d"], list(node["s"]), list(node["k"])
        if kind == "float":
            self.floats.append((len(self.stretches), node["v"]))
            self.stretches.append(Stretch(-1, _FLOAT_BYTES))
            return kind
        if kind in _SEQUENCES:
            return kind, [self.frame(item) for item in node["v"]]
        if kind in _KEYED:
            pairs = [(key, self.frame(item)) for key, item in node["v"]]
            return kind, node.get("m"), node.get("c"), pairs
        self.is_known = self.is_known and kind in ("int", "str")
        return kind, node["v"] if self.is_known else None
