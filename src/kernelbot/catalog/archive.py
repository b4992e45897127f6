"""Unpacks an uploaded archive: nothing is written outside the folder, and sizes are limited."""

import gzip
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from kernelbot.domain.errors import InvalidProblem

MAX_ENTRIES = 20_000
MAX_BYTES = 256 << 20
"""Of all files together, unpacked."""
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
    if len(name.encode("utf-8", "replace")) > 1024 or len(parts) > 32:
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
    """An entry whose map of holes isn't read: it may have a billion, and such files are refused."""

    def _proc_gnusparse_10(self, *_: object) -> None:
        raise tarfile.ReadError("it holds a file with holes")


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
