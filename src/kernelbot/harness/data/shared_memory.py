"""Memory shared between judge and runner, with a size that only the judge sets."""

import contextlib
import ctypes
import fcntl
import mmap
import os

_PAGE = mmap.PAGESIZE
_SEALS = 0x0001 | 0x0002 | 0x0004  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW
_F_ADD_SEALS = 1033
_F_GET_SEALS = 1034
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.restype = ctypes.c_int
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class SharedBuffer:
    """A mapped memfd. `address` is valid until `close`."""

    def __init__(self, fd: int, size_bytes: int) -> None:
        self.fd = fd
        self.size_bytes = size_bytes
        # Populated, so that no page fault happens in a timed call.
        self._map = mmap.mmap(fd, size_bytes, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        self._anchor = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._anchor)

    @classmethod
    def create(cls, size_bytes: int) -> "SharedBuffer":
        """At least `size_bytes` of zeros, sealed: nobody can shrink or grow it afterwards."""
        size = max(_PAGE, -(-size_bytes // _PAGE) * _PAGE)
        fd = os.memfd_create("kernelbot", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, size)
            fcntl.fcntl(fd, _F_ADD_SEALS, _SEALS)
            return cls(fd, size)
        except BaseException:
            os.close(fd)
            raise

    @classmethod
    def attach(cls, fd: int) -> "SharedBuffer":
        """The other side's view of a buffer whose descriptor it was sent."""
        return cls(fd, os.fstat(fd).st_size)

    @property
    def view(self) -> mmap.mmap:
        """The memory itself, for arrays that lie in it; mapped for as long as they live."""
        return self._map

    def fill(self, byte: int, size_bytes: int) -> None:
        """Overwrite the first `size_bytes` with one byte value."""
        ctypes.memset(self.address, byte, min(size_bytes, self.size_bytes))

    def read(self, offset: int, size_bytes: int) -> bytes:
        """A private copy of a range; the caller has checked the bounds."""
        return ctypes.string_at(self.address + offset, size_bytes)

    def holds(self, offset: int, address: int, size_bytes: int) -> bool:
        """Whether a range has the bytes that lie at an address of ours; nothing is copied. The
        caller has checked the bounds."""
        return size_bytes == 0 or _memcmp(self.address + offset, address, size_bytes) == 0

    def write(self, offset: int, data: bytes) -> None:
        """Copy `data` in. Raises ValueError if it doesn't fit."""
        if offset < 0 or offset + len(data) > self.size_bytes:
            raise ValueError("outside of the buffer")
        ctypes.memmove(self.address + offset, data, len(data))

    def close(self) -> None:
        """Unmap and close; harmless when repeated."""
        if self.fd < 0:
            return
        del self._anchor
        with contextlib.suppress(BufferError):
            self._map.close()
        os.close(self.fd)
        self.fd = -1


def expect_sealed(fd: int) -> None:
    """Raises ValueError if it isn't memory of which nobody can change the size any more: whoever
    reads from what an untrusted process sent waits for nobody."""
    try:
        seals = fcntl.fcntl(fd, _F_GET_SEALS)
    except OSError:
        seals = 0
    if seals & _SEALS != _SEALS:
        raise ValueError("memory that isn't sealed")


def replaced(old: SharedBuffer | None, fd: int) -> SharedBuffer:
    """The buffer of a descriptor, in place of an old one that is closed."""
    if old is not None:
        old.close()
    return SharedBuffer.attach(fd)


def renewed(old: SharedBuffer | None, size_bytes: int) -> SharedBuffer:
    """A new buffer instead of `old`, which is closed."""
    if old is not None:
        old.close()
    return SharedBuffer.create(size_bytes)
