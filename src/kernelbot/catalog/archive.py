"""Unpacks an uploaded archive: nothing is written outside the folder, and sizes are limited."""

import gzip
import math
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from kernelbot.domain.errors import InvalidProblem
from kernelbot.domain.zip_lists import list_bytes

MAX_ENTRIES = 20_000
MAX_BYTES = 256 << 20
"""Most bytes of all files together, unpacked."""
_MAX_LIST_BYTES = 8 << 20
"""Most bytes of a zip's list of entries; it is read as a whole before the first of them."""
_MAX_BESIDE_BYTES = 64 << 10
"""Most bytes of a name, or of attributes, that don't fit into a tar entry's header."""
_MAX_PART_BYTES = 255
"""The longest name of a file or folder that Linux takes."""
_LENGTH_DIGITS = 8
_CHUNK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    # Zipfile raises these for offsets before the beginning, undecodable names and empty names.
    ValueError,
    IndexError,
)


def unpack(archive: BinaryIO, folder: Path) -> None:
    """Unpack a zip, tar or tar.gz into `folder`, which exists and is empty. Blocks.

    Raises `InvalidProblem` for anything but plain files and folders with relative names, for
    names that occur twice, and beyond the limits on files and bytes; then `folder` may hold a
    part of it. Permissions, owners and times are not kept.
    """
    try:
        if _starts_with(archive, b"PK\x03\x04"):
            _take(_zip_entries(archive), folder)
        else:
            with tempfile.TemporaryFile() as plain:
                _inflate(archive, plain)
                _take(_tar_entries(plain), folder)
    except _DAMAGED as error:
        raise InvalidProblem(f"The archive can't be read: {error}", hint=_HINT) from None
    except (NotImplementedError, RuntimeError) as error:  # encrypted, or in parts
        raise InvalidProblem(f"The archive can't be unpacked: {error}", hint=_HINT) from None


_HINT = "Send a zip, tar or tar.gz file."


def _starts_with(archive: BinaryIO, mark: bytes) -> bool:
    """Looks at the beginning only: a tar may end with a zip that it contains."""
    archive.seek(0)
    start = archive.read(len(mark))
    archive.seek(0)
    return start == mark


def _take(entries: Iterator[tuple[str, bool, IO[bytes] | None]], folder: Path) -> None:
    left = MAX_BYTES
    for number, (name, is_folder, content) in enumerate(entries):
        if number >= MAX_ENTRIES:
            raise InvalidProblem(f"The archive has more than {MAX_ENTRIES:,} entries.")
        target = _target(name, folder)
        if is_folder:
            _make_folder(target, name)
            continue
        assert content is not None, "every entry is a folder or has content"
        _make_folder(target.parent, name)
        left = _write(content, target, name, left)


def _target(name: str, folder: Path) -> Path:
    """The path of an entry. Raises `InvalidProblem` if it is outside the folder or no path."""
    parts = name.rstrip("/").split("/")
    plain = all(part not in ("", "..") for part in parts) and parts[0] != "~"
    if not plain or "\\" in name or not name.isprintable() or ":" in parts[0]:
        raise InvalidProblem(f"The archive holds the name {name!r}, which leads outside of it.")
    longest = max(len(part.encode("utf-8", "replace")) for part in parts)
    if len(name.encode("utf-8", "replace")) > 1024 or len(parts) > 32 or longest > _MAX_PART_BYTES:
        raise InvalidProblem(f"The archive holds a name that is too long: {name[:80]!r}...")
    return folder.joinpath(*parts)


def _make_folder(target: Path, name: str) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InvalidProblem(f"In the archive {name!r} is both a file and a folder.") from None


def _write(content: IO[bytes], target: Path, name: str, left: int) -> int:
    """Copy a file; returns how many more bytes are allowed."""
    try:
        with target.open("xb") as file:
            while chunk := content.read(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise InvalidProblem(
                        f"The archive holds more than {MAX_BYTES >> 20} MiB, unpacked."
                    )
                file.write(chunk)
    except FileExistsError:
        raise InvalidProblem(f"The archive holds {name!r} twice.") from None
    except (IsADirectoryError, NotADirectoryError):
        raise InvalidProblem(f"In the archive {name!r} is both a file and a folder.") from None
    return left


def _inflate(archive: BinaryIO, plain: IO[bytes]) -> None:
    """Copy a plain or gzipped tar, within the limit: its headers are read into memory later."""
    packed = _starts_with(archive, b"\x1f\x8b")
    source = cast(IO[bytes], gzip.GzipFile(fileobj=archive, mode="rb")) if packed else archive
    most = MAX_BYTES + MAX_ENTRIES * 2 * tarfile.BLOCKSIZE
    while chunk := source.read(_CHUNK):
        most -= len(chunk)
        if most < 0:
            raise InvalidProblem(f"The archive holds more than {MAX_BYTES >> 20} MiB, unpacked.")
        plain.write(chunk)
    plain.seek(0)


class _Member(tarfile.TarInfo):
    """An entry of which nothing is read but name, kind and size, in time that grows with its length
    alone. The standard library's own way takes hours for what was made for that."""

    def _proc_sparse(self, *_: object) -> None:
        """A map of holes isn't read: it may have a billion, and such files are refused."""
        raise tarfile.ReadError("it holds a file with holes")

    def _proc_gnulong(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """A long name stands before the entry's own header."""
        name = self._notes_before(archive).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
        following = self._following(archive)
        if self.type == tarfile.GNUTYPE_LONGNAME:
            following.name = name.rstrip("/") if following.isdir() else name
        return following

    def _proc_pax(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Read what POSIX adds to an entry. Only a name is taken from there, and only for one
        entry; what would make the entry another one is refused."""
        added = dict(_records(self._notes_before(archive)))
        following = self._following(archive)
        changed = [key for key in added if key == b"size" or key.startswith(b"GNU.sparse.")]
        if changed:
            raise tarfile.ReadError("it holds a file with holes, or of another size than it says")
        if b"path" in added:
            if self.type == tarfile.XGLTYPE:
                raise tarfile.ReadError("it gives all entries the same name")
            following.name = added[b"path"].decode("utf-8", "surrogateescape").rstrip("/")
        return following

    def _notes_before(self, archive: tarfile.TarFile) -> bytes:
        """What stands before the entry that follows."""
        if not 0 <= self.size <= _MAX_BESIDE_BYTES:
            raise tarfile.ReadError(f"it holds {self.size} bytes of notes about a single file")
        assert archive.fileobj is not None, "it is open"
        padded = math.ceil(self.size / tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        return archive.fileobj.read(padded)[: self.size]

    def _following(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        try:
            following = self.fromtarfile(archive)
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"an entry is missing: {error}") from None
        following.offset = self.offset
        return following


def _records(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys with their values: each is a line that begins with its length."""
    at = 0
    while at < len(text):
        length, blank, _ = text[at : at + _LENGTH_DIGITS].partition(b" ")
        record = text[at : at + int(length)] if blank and length.isdigit() else b""
        key, equals, value = record[len(length) + 1 :].partition(b"=")
        if not equals or len(record) != int(length) or not value.endswith(b"\n"):
            raise tarfile.ReadError("the notes about a file can't be read")
        yield key, value[:-1]
        at += len(record)


def _tar_entries(plain: IO[bytes]) -> Iterator[tuple[str, bool, IO[bytes] | None]]:
    with tarfile.open(fileobj=plain, mode="r:", tarinfo=_Member) as tar:
        for member in tar:
            if member.size < 0:
                raise InvalidProblem(f"In the archive {member.name!r} has a negative size.")
            if not (member.isfile() or member.isdir()) or member.issparse():
                raise InvalidProblem(
                    f"The archive holds {member.name!r}, which is a link or a special file.",
                    hint="Only plain files and folders are accepted.",
                )
            name = member.name.removeprefix("./")
            if member.isfile() or name not in ("", "."):
                yield name, member.isdir(), None if member.isdir() else tar.extractfile(member)


def _zip_entries(archive: BinaryIO) -> Iterator[tuple[str, bool, IO[bytes] | None]]:
    if (list_bytes(archive) or 0) > _MAX_LIST_BYTES:
        raise InvalidProblem(f"The archive has more than {MAX_ENTRIES:,} entries.")
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise InvalidProblem(
                    f"The archive holds {info.filename!r}, which is a link or a special file.",
                    hint="Only plain files and folders are accepted.",
                )
            if info.compress_type not in _METHODS:
                raise InvalidProblem(
                    f"The archive holds {info.filename!r} in an unusual compression.",
                    hint="Only deflate is accepted, zip's default.",
                )
            if info.is_dir():
                yield info.filename, True, None
            else:
                with packed.open(info) as content:
                    yield info.filename, False, content
