"""In the problem's cage: the judge's memory on one GPU, where data is put and outputs are found."""

import os
import sys
from typing import Any

from kernelbot.harness.data.device_view import View
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.inside.gpu.arena import Arena
from kernelbot.harness.inside.gpu.timing import frameworks_vendor, open_driver
from kernelbot.harness.words.cage_messages import LentPiece

_LEAST_UNUSED_BYTES = 256 << 20
_UNUSED_SHARE = 16
"""What torch keeps for later of a device's memory may be this part of it, or so much: to take it
anew costs milliseconds, and data is made for every call."""


class LentMemory:
    """The chunks of the judge's pool that this process was lent."""

    def __init__(self, number: int = 0) -> None:
        """`number`: of the device. Raises `GpuError`."""
        self._driver = open_driver(number, vendor=frameworks_vendor())
        torch: Any = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.init()
        self._chunks: dict[int, Arena] = {}

    def view(self, lent: LentPiece, fds: list[int]) -> View:
        """The piece that was lent, whose chunk comes with it if it is new. Those that the
        judge has given up are unmapped once no array uses them. Raises `GpuError`."""
        number = lent.chunk
        self._chunks = {n: arena for n, arena in self._chunks.items() if n in lent.live}
        if fds:
            self._chunks[number] = Arena.attach(self._driver, os.dup(fds[0]), lent.chunk_bytes)
        arena = self._chunks[number]
        return View(arena.address + lent.offset, lent.size, arena)

    def write(self, given: Encoded, view: View) -> None:
        """Copy a question's arrays on the GPU into a piece, once they are complete. Raises
        `GpuError`."""
        driver = self._driver
        driver.enter()
        driver.do("cuCtxSynchronize")
        for leaf in given.leaves:
            if leaf.in_arena:
                driver.copy(view.address + leaf.offset, leaf.address, leaf.size_bytes)
        driver.wait()

    def give_back_unused(self) -> None:
        """Give back what torch keeps of the device's memory though nothing uses it, if it is much:
        whatever a reference once needed would be missing to the author's kernel."""
        torch: Any = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return
        unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        is_much = unused > _LEAST_UNUSED_BYTES
        if is_much and unused * _UNUSED_SHARE > self._driver.memory_bytes()[1]:
            torch.cuda.empty_cache()
