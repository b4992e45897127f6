"""Another process's memory, copied into ours."""

import ctypes
import os
from collections.abc import Sequence

_MOST_AT_ONCE = 1024
"""Ranges of memory in one system call: Linux's `UIO_MAXIOV`."""


class _Stretch(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("size", ctypes.c_size_t))


_readv = ctypes.CDLL(None, use_errno=True).process_vm_readv
_readv.restype = ctypes.c_ssize_t
_readv.argtypes = (
    ctypes.c_int,
    ctypes.POINTER(_Stretch),
    ctypes.c_ulong,
    ctypes.POINTER(_Stretch),
    ctypes.c_ulong,
    ctypes.c_ulong,
)


def read_memory(pid: int, address: int, target: int, size_bytes: int) -> None:
    """Copy another process's memory to `target` in ours. Raises OSError."""
    done = 0
    while done < size_bytes:
        mine = _Stretch(target + done, size_bytes - done)
        theirs = _Stretch(address + done, size_bytes - done)
        got = _readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
        if got <= 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number) if got < 0 else "nothing there")
        done += got


def read_ranges(pid: int, ranges: Sequence[tuple[int, int]], target: int) -> None:
    """Copy ranges of another process's memory, each an address and a size, to `target` in ours, one
    behind the other. Raises OSError."""
    for start in range(0, len(ranges), _MOST_AT_ONCE):
        some = ranges[start : start + _MOST_AT_ONCE]
        theirs = (_Stretch * len(some))(*some)  # type: ignore[misc]  # ctypes takes tuples
        wanted = sum(size for _, size in some)
        mine = _Stretch(target, wanted)
        got = _readv(pid, ctypes.byref(mine), 1, theirs, len(some), 0)
        if got != wanted:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number) if got < 0 else "nothing there")
        target += wanted
