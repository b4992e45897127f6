"""A call's data and its output, as the judge holds them on the device."""

import ctypes
from dataclasses import dataclass

from kernelbot.harness.data.encode import Encoded, Json, Leaf
from kernelbot.harness.data.leaves import device_leaf_sizes
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.gpu.arena import ArenaPiece


@dataclass(frozen=True)
class DeviceData(Encoded):
    """A call's data. Its `leaves` and `size_bytes` are those in the host's memory alone; the others
    lie in `piece`, at the offsets that the skeleton says."""

    device: JudgeDevice | None = None
    piece: ArenaPiece | None = None

    def has_content_of(self, other: "DeviceData") -> bool:
        """Whether both have the same bytes on the device. Raises `GpuError`."""
        if self.piece is None or other.piece is None or self.device is None:
            return self.piece is other.piece
        return self.device.are_alike(self.piece, other.piece)


@dataclass(frozen=True)
class DeviceValue:
    """An output, copied into the judge's own memory when the call returned. Its skeleton was
    checked, but nothing was built of it: whoever compares it does that."""

    device: JudgeDevice
    skeleton: Json
    host: bytes
    piece: ArenaPiece
    guard_bytes: int = 0
    """The length of the pattern before and behind each array; 0 if it has none."""
    guard: int = 0

    def encoded(self) -> DeviceData:
        """The same as data to be sent."""
        start = ctypes.create_string_buffer(self.host, max(len(self.host), 1))
        leaf = Leaf(ctypes.addressof(start), len(self.host), 0, start)
        leaves = (leaf,) if self.host else ()
        return DeviceData(
            self.skeleton, leaves, len(self.host), device=self.device, piece=self.piece
        )

    def is_within_bounds(self) -> bool:
        """Whether nothing was written beside the arrays. Raises `GpuError`."""
        size = self.guard_bytes
        intact = bytes([self.guard]) * size
        return not size or all(
            self.device.content(self.piece.address + place, size) == intact
            for start, length in device_leaf_sizes(self.skeleton)
            for place in (start - size, start + length)
        )
