"""Where one runner's calls find their data on the device: in one of two arenas.

A call's data lies in either, and what the other one held is overwritten: a kernel that still uses
the arrays of an earlier call (in a table of pointers, a descriptor, a graph) computes with nothing,
as it would anywhere else. Where memory is scarce, there is one arena that the runner sees at two
addresses.

Data of a call with cold caches is filled in before the cache is flushed, but for a few places,
which hold other bytes until the flush is done: so nobody can compute before the call, and yet the
call reads memory.
"""

import random

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.gpu.device_data import DeviceData
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.gpu.arena import ALIGNMENT, Arena, ArenaPiece, cleared
from kernelbot.harness.inside.runner.kernels import GUARD

_PLENTY = 16
"""A second arena takes at most this part of the memory that is free."""
_PLACES = 4
_LARGEST_PLACE_BYTES = 4096
_PLACE_SHARE = 64
"""A place is at most this part of the data."""


class InputArenas:
    """The memory of one runner's data."""

    def __init__(self, device: JudgeDevice) -> None:
        self._device = device
        self._arenas: tuple[Arena, ...] = ()
        self._filled_bytes = [0, 0]
        self._withheld: list[tuple[int, int]] = []
        self._random = random.SystemRandom()
        self.view = 0
        """The number of the address that the current call's data is laid at."""

    @property
    def size_bytes(self) -> int:
        """The size of each arena; 0 before there is one."""
        return self._arenas[0].size_bytes if self._arenas else 0

    @property
    def current(self) -> Arena:
        """That of the current call."""
        return self._arenas[self.view % len(self._arenas)]

    def provide(self, size_bytes: int) -> tuple[Arena, ...]:
        """Have at least so much room; returns the arenas if they are new. Raises `DeviceFull`,
        `GpuError`."""
        if self._arenas and self.size_bytes >= size_bytes:
            return ()
        self.close()
        driver = self._device.driver
        first = cleared(driver, size_bytes)
        self._arenas, self._filled_bytes = (first,), [0, 0]
        if driver.free_bytes() >= _PLENTY * first.size_bytes:
            self._arenas += (cleared(driver, size_bytes),)
        return self._arenas

    def turn(self) -> None:
        """The next call's data lies at the other address."""
        self.view = 1 - self.view

    def begin_to_fill(self, data: Encoded, *, cold: bool) -> None:
        """Begin to write what must be evicted from the cache afterwards: the data if the call is
        `cold`, without the places that are withheld, and nothing over the other arena's. Raises
        `GpuError`."""
        driver = self._device.driver
        other = 1 - self.view
        if len(self._arenas) > 1:
            driver.fill(self._arenas[other].address, GUARD, self._filled_bytes[other])
            self._filled_bytes[other] = 0
        piece = _piece_of(data)
        size = piece.size_bytes if piece is not None else 0
        self._filled_bytes[self.view] = size
        self._withheld = [(0, size)]
        if cold and piece is not None:
            self._withheld = self._places(size)
            driver.copy(self.current.address, piece.address, size)
            for offset, length in self._withheld:
                driver.fill(self.current.address + offset, GUARD, length)

    def begin_to_complete(self, data: Encoded) -> None:
        """Begin to write what is still missing of the data. Raises `GpuError`."""
        piece = _piece_of(data)
        if piece is not None:
            here, there = self.current.address, piece.address
            for offset, length in self._withheld:
                self._device.driver.copy(here + offset, there + offset, length)

    def close(self) -> None:
        """Give the memory back."""
        for arena in self._arenas:
            arena.close()
        self._arenas = ()

    def _places(self, size_bytes: int) -> list[tuple[int, int]]:
        """Offset and length of some stretches; all of it if there is so little."""
        length = min(_LARGEST_PLACE_BYTES, size_bytes // _PLACE_SHARE)
        length = max(length // ALIGNMENT, 1) * ALIGNMENT
        slots = size_bytes // length
        if slots <= _PLACES:
            return [(0, size_bytes)]
        return [(slot * length, length) for slot in self._random.sample(range(slots), _PLACES)]


def _piece_of(data: Encoded) -> ArenaPiece | None:
    return data.piece if isinstance(data, DeviceData) else None
