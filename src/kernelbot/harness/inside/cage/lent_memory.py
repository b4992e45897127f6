"""In the problem's cage: the judge's memory on one GPU, where data is put and outputs are found."""

import os
import sys
from typing import Any

from kernelbot.harness.data.device_view import View
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.inside.gpu.arena import Arena
from kernelbot.harness.inside.gpu.timing import open_driver
from kernelbot.harness.words.cage_messages import LentPiece


class LentMemory:
    """The chunks of the judge's pool that this process was lent."""

    def __init__(self, number: int = 0) -> None:
        """`number`: of the device. Raises `GpuError`."""
        self._driver = open_driver(number)
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
