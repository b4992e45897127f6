"""Memory of one process alone, for copies of what others have."""

import ctypes
import os


class PrivateBuffer:
    """Zeros at an address that is valid as long as this lives. Unlike shared memory they lie where
    earlier ones did, so the system needn't find pages for them each time."""

    def __init__(self, size_bytes: int) -> None:
        self._memory = ctypes.create_string_buffer(max(size_bytes, 1))
        self.size_bytes = size_bytes
        self.address = ctypes.addressof(self._memory)

    def read(self, offset: int, size_bytes: int) -> bytes:
        """A copy of a range; the caller has checked the bounds."""
        return ctypes.string_at(self.address + offset, size_bytes)

    @property
    def view(self) -> memoryview:
        """All of it, to be written to."""
        return memoryview(self._memory).cast("B")[: self.size_bytes]


def read_at(fd: int, offset: int, size_bytes: int) -> PrivateBuffer:
    """A copy of a range of a file. Raises ValueError if the file ends before, and OSError."""
    if not 0 <= offset <= offset + size_bytes <= os.fstat(fd).st_size:
        raise ValueError("bytes outside of the file")
    found = PrivateBuffer(size_bytes)
    rest = found.view
    while rest:  # Linux reads 2 GiB at most
        got = os.preadv(fd, [rest], offset)
        if not got:
            raise ValueError("bytes outside of the file")
        rest, offset = rest[got:], offset + got
    return found
