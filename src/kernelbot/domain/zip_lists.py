"""How large the list of a zip's files is: whoever opens a zip reads all of it into memory."""

import struct
from typing import BinaryIO

_END, _END_BYTES = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_BYTES = b"PK\x06\x07", 20
_LARGE_END, _LARGE_END_BYTES = b"PK\x06\x06", 56
_LONGEST_COMMENT = 0xFFFF


def list_bytes(archive: BinaryIO) -> int | None:
    """Size of the list that the end of the zip names, in either form that it may have; None: it has
    no end. Leaves the position anywhere."""
    size = archive.seek(0, 2)
    archive.seek(max(0, size - _LONGEST_COMMENT - _END_BYTES - _LOCATOR_BYTES - _LARGE_END_BYTES))
    tail = archive.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        return None
    (found,) = struct.unpack_from("<I", tail, at + 12)
    large = at - _LOCATOR_BYTES - _LARGE_END_BYTES
    has_large = large >= 0 and tail.startswith(_LOCATOR, at - _LOCATOR_BYTES)
    if has_large and tail.startswith(_LARGE_END, large):
        (found,) = struct.unpack_from("<Q", tail, large + 40)
    return int(found)
