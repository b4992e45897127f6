"""One file out of a zip that somebody else has packed. Nothing is unpacked to a disk, so names that
lead elsewhere lead nowhere; only the file that is asked for is read, and only so much of it."""

import io
import lzma
import struct
import zipfile
import zlib

_END = b"PK\x05\x06"
_END_BYTES = 22
_LONGEST_COMMENT = 1 << 16
_MAX_LIST_BYTES = 1 << 20
"""Of the list of files: thousands of them. Each takes ten times as much memory when it is read."""
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,  # encrypted
    ValueError,
)


class BadArchive(Exception):
    """It can't be read, and why."""


def read_file(archive: bytes, name: str, max_bytes: int) -> bytes | None:
    """The content of the file of exactly this name, at most a byte more than `max_bytes` of it;
    None if it isn't there. Raises `BadArchive`."""
    _check_list(archive)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            found = next((entry for entry in opened.infolist() if entry.filename == name), None)
            if found is None:
                return None
            with opened.open(found) as file:
                return file.read(max_bytes + 1)
    except _UNREADABLE as error:
        raise BadArchive(f"its archive can't be read: {error}") from None


def _check_list(archive: bytes) -> None:
    at = archive.rfind(_END, max(0, len(archive) - _END_BYTES - _LONGEST_COMMENT))
    if at < 0 or len(archive) < at + _END_BYTES:
        raise BadArchive("its archive is no zip file")
    (size,) = struct.unpack_from("<I", archive, at + 12)
    if size > _MAX_LIST_BYTES:
        raise BadArchive("its archive lists too many files")
