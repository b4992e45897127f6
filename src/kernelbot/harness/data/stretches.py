"""Values in one piece of shared memory, each in pages of its own."""

import contextlib
import ctypes
import mmap
from collections.abc import Iterator

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer

_MOST_KEPT_BYTES = 16 << 20
"""A window's data take half of it."""


class SharedStretches:
    """Takes the bytes of one value after the other, of which most are about as large."""

    def __init__(self, expected: int = 1) -> None:
        """`expected`: how many there will be, so that they needn't be moved."""
        self._expected = expected
        self._buffer: SharedBuffer | None = None
        self._end = 0
        self.begins: list[int] = []
        """Where each begins."""

    @contextlib.contextmanager
    def for_others(self, expected: int) -> Iterator["SharedStretches"]:
        """Takes so many other values in this block, in the same memory: new memory costs more than
        what is written to it. Much is given back at the end. Whoever was sent its descriptor must
        have read the last values."""
        self._expected, self._end = expected, 0
        self.begins.clear()
        try:
            yield self
        finally:
            if self._buffer is not None and self._buffer.size_bytes > _MOST_KEPT_BYTES:
                self.close()

    @property
    def size_bytes(self) -> int:
        """How many bytes all values take, with the rest of their last pages."""
        return self._end

    @property
    def fd(self) -> int:
        """The descriptor of the memory, once there is a value in it."""
        assert self._buffer is not None
        return self._buffer.fd

    def add(self, value: Encoded) -> None:
        """Copy a value's bytes behind those of the last one."""
        begin, self._end = self._end, self._end + pages_bytes(value.size_bytes)
        value.copy_to(self._roomy(begin), begin)
        self.begins.append(begin)

    def close(self) -> None:
        """Close the memory; harmless when repeated."""
        if self._buffer is not None:
            self._buffer.close()
        self._buffer = None

    def _roomy(self, used: int) -> SharedBuffer:
        """The memory, with room up to the end; its first `used` bytes are kept."""
        old = self._buffer
        if old is not None and self._end <= old.size_bytes:
            return old
        left = max(self._expected - len(self.begins), 1)
        self._buffer = SharedBuffer.create(used + left * (self._end - used))
        if old is not None:
            ctypes.memmove(self._buffer.address, old.address, used)
            old.close()
        return self._buffer


def pages_bytes(size_bytes: int) -> int:
    """What so many bytes take in whole pages: one at least."""
    return max(1, -(-size_bytes // mmap.PAGESIZE)) * mmap.PAGESIZE
