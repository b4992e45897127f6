"""Large pages for a zygote: what is loaded once and forked for ever.

A process with torch in it has some 60,000 pages of 4 KiB. Every fork copies an entry for each and
every death frees them, which takes 7 and 8 ms; in pages of 2 MiB both take less than 2 ms.
"""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

_LARGE_BYTES = 2 << 20
_MADV_COLLAPSE = 25
_STRETCH = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 00000000 \S+ 0 ")


def gather_pages() -> int:
    """Put this process's own memory into large pages, as far as the kernel will; the bytes for
    which it did. Content and addresses stay.

    0 if it can't: before Linux 6.1, or without large pages. Then all works, only slower.
    """
    _gather_free_pieces()
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    # One by one: at a stretch of nothing in between the kernel gives up.
    return sum(
        _LARGE_BYTES
        for address in _large_places(text)
        if madvise(address, _LARGE_BYTES, _MADV_COLLAPSE) == 0
    )


def _gather_free_pieces() -> None:
    """Have the C library put free neighbours together now: else each fork does it, all over."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # of another C library
        trim(ctypes.c_size_t(0))


def _large_places(maps: str) -> Iterator[int]:
    """Where in the private, writable memory that is no file's a large page would lie."""
    for line in maps.splitlines():
        if found := _STRETCH.match(line):
            low, high = (int(part, 16) for part in found.groups())
            first = -(-low // _LARGE_BYTES) * _LARGE_BYTES
            yield from range(first, high - _LARGE_BYTES + 1, _LARGE_BYTES)
