"""One file out of a zip that somebody else has packed. Nothing is unpacked to a disk, so names that
lead elsewhere lead nowhere; only the file that is asked for is read, and only so much of it."""

import io
import zipfile
import zlib

from kernelbot.domain.zip_lists import list_bytes

_MAX_LIST_BYTES = 1 << 20
"""Most bytes of the list of files: thousands of them. Each takes ten times as much memory when it
is read."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others let a file say how much memory is needed to unpack it."""
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,  # an offset that no file has
    RuntimeError,  # encrypted
    ValueError,
)


class BadArchive(Exception):
    """The archive can't be read; the text says why."""


def read_file(archive: bytes, name: str, max_bytes: int) -> bytes | None:
    """The content of the file of exactly this name, at most a byte more than `max_bytes` of it;
    None if it isn't there. Raises `BadArchive`."""
    _check_list(archive)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            found = next((entry for entry in opened.infolist() if entry.filename == name), None)
            if found is None:
                return None
            if found.compress_type not in _METHODS:
                raise BadArchive("its archive is compressed in a way that isn't read")
            with opened.open(found) as file:
                return file.read(max_bytes + 1)
    except _UNREADABLE as error:
        raise BadArchive(f"its archive can't be read: {error}") from None


def _check_list(archive: bytes) -> None:
    size = list_bytes(io.BytesIO(archive))
    if size is None:
        raise BadArchive("its archive is no zip file")
    if size > _MAX_LIST_BYTES:
        raise BadArchive("its archive lists too many files")
