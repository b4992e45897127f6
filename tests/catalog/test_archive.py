import contextlib
import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.catalog import archive
from kernelbot.catalog.archive import unpack
from kernelbot.domain.errors import InvalidProblem


def tar_of(*members: tuple[tarfile.TarInfo, bytes], packed: bool = True) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz" if packed else "w") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    file.seek(0)
    return file


def tar_link(kind: bytes, target: str) -> io.BytesIO:
    info = tarfile.TarInfo("link")
    info.type, info.linkname = kind, target
    return tar_of((info, b""), (tarfile.TarInfo("link/inside"), b"x"))


def zip_of(*members: tuple[str, bytes], mode: int = 0) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            packed.writestr(info, content)
    file.seek(0)
    return file


def files_of(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize(
    "packed",
    [
        tar_of((tarfile.TarInfo("a/b.txt"), b"one"), (tarfile.TarInfo("./c"), b"")),
        tar_of((tarfile.TarInfo("a/b.txt"), b"one"), (tarfile.TarInfo("c"), b""), packed=False),
        zip_of(("a/b.txt", b"one"), ("c", b"")),
    ],
    ids=["tar.gz", "tar", "zip"],
)
def test_plain_files_are_unpacked(tmp_path: Path, packed: io.BytesIO) -> None:
    unpack(packed, tmp_path)
    assert {"a/b.txt": b"one", "c": b""} == files_of(tmp_path)


NAMES = [
    *("../x", "a/../../x", "/etc/x", "a//b", "a\\..\\x", "C:/x", "~/x", "a\nb", "a/" * 40 + "x"),
    *("a" * 256, "a/" + "é" * 128),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "pack", [lambda n: tar_of((tarfile.TarInfo(n), b"x")), lambda n: zip_of((n, b"x"))]
)
def test_names_that_lead_elsewhere_are_refused(
    tmp_path: Path, name: str, pack: Callable[[str], io.BytesIO]
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(InvalidProblem):
        unpack(pack(name), inside)
    assert {} == files_of(tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        tar_link(tarfile.SYMTYPE, "/etc"),
        tar_link(tarfile.LNKTYPE, "/etc/passwd"),
        tar_link(tarfile.CHRTYPE, ""),
        tar_link(tarfile.FIFOTYPE, ""),
        zip_of(("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777),
        zip_of(("pipe", b""), mode=stat.S_IFIFO),
    ],
    ids=["symlink", "hard link", "device", "pipe", "zip symlink", "zip pipe"],
)
def test_links_and_special_files_are_refused(tmp_path: Path, packed: io.BytesIO) -> None:
    with pytest.raises(InvalidProblem, match="link or a special file"):
        unpack(packed, tmp_path)
    assert {} == files_of(tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        tar_of((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2")),
        tar_of((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a/b"), b"2")),
        tar_of((tarfile.TarInfo("a/b"), b"1"), (tarfile.TarInfo("a"), b"2")),
    ],
)
def test_names_that_contradict_each_other_are_refused(tmp_path: Path, packed: io.BytesIO) -> None:
    with pytest.raises(InvalidProblem):
        unpack(packed, tmp_path)


def zeros(count: int) -> bytes:
    return bytes(count)


@pytest.mark.parametrize(
    "packed",
    [
        tar_of((tarfile.TarInfo("a"), zeros(5000))),
        tar_of(*((tarfile.TarInfo(f"a{i}"), zeros(600)) for i in range(3))),
        zip_of(("a", zeros(5000))),
        zip_of(*((f"a{i}", zeros(600)) for i in range(3))),
        zip_of(*((f"a{i}", b"") for i in range(9))),
        tar_of(*((tarfile.TarInfo(f"a{i}"), b"") for i in range(9))),
        io.BytesIO(gzip.compress(zeros(1 << 20))),
    ],
    ids=["tar", "tar sum", "zip", "zip sum", "zip entries", "tar entries", "gzip"],
)
def test_bombs_are_refused(
    tmp_path: Path, packed: io.BytesIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1500)
    monkeypatch.setattr(archive, "MAX_ENTRIES", 8)
    with pytest.raises(InvalidProblem, match=r"more than|can't be read"):
        unpack(packed, tmp_path)
    assert 1500 >= sum(len(content) for content in files_of(tmp_path).values())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"\x1f\x8bxxxx",
        b"x" * 5000,
        gzip.compress(b"x" * 50, mtime=0)[:-8] + b"notright",
        zip_of(("a", b"x" * 99)).getvalue()[:60],
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidProblem):
        unpack(io.BytesIO(content), tmp_path)


def test_a_damaged_file_in_a_zip_is_refused(tmp_path: Path) -> None:
    whole = zip_of(("a", b"hello hello hello")).getvalue()
    with pytest.raises(InvalidProblem):
        unpack(io.BytesIO(whole.replace(b"hello hello", b"jello hello")), tmp_path)


@given(st.binary(min_size=1, max_size=3), st.integers(0, 200), st.booleans())
def test_a_damaged_archive_is_refused_if_it_is_not_read(
    damage: bytes, position: int, as_zip: bool
) -> None:
    whole = zip_of(("a", b"one"), ("b", b"two")) if as_zip else tar_of((tarfile.TarInfo("a"), b"x"))
    content = bytearray(whole.getvalue())
    content[position % len(content) : position % len(content) + len(damage)] = damage
    with TemporaryDirectory() as folder, contextlib.suppress(InvalidProblem):
        unpack(io.BytesIO(bytes(content)), Path(folder))


def test_a_zip_in_an_unusual_compression_is_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("a", b"one")
    with pytest.raises(InvalidProblem, match="'a' in an unusual compression"):
        unpack(file, tmp_path)


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = zip_of(("inside", b"x")).getvalue()
    unpack(tar_of((tarfile.TarInfo("PK.zip"), inner), packed=False), tmp_path)
    assert {"PK.zip": inner} == files_of(tmp_path)


def test_a_file_of_negative_size(tmp_path: Path) -> None:
    header = bytearray(tarfile.TarInfo("a").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" + (-1536 & (1 << 88) - 1).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    with pytest.raises(InvalidProblem, match="negative size"):
        unpack(io.BytesIO(bytes(header) * 4 + bytes(1024)), tmp_path)


def test_a_file_with_a_hundred_million_holes(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a")
    info.pax_headers = {
        f"GNU.sparse.{key}": value
        for key, value in {"major": "1", "minor": "0", "name": "a", "realsize": "1"}.items()
    }
    file = tar_of((info, b"100000000\n" + b"1\n" * 1000))
    with pytest.raises(InvalidProblem, match="a file with holes"):
        unpack(file, tmp_path)


def tar_with(kind: bytes, beside: bytes, *, times: int = 1) -> io.BytesIO:
    """A file with that before its own header, so often."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, len(beside)
    padding = bytes(-len(beside) % tarfile.BLOCKSIZE)
    file = tarfile.TarInfo("a")
    file.size = 3
    content = (info.tobuf(tarfile.GNU_FORMAT) + beside + padding) * times
    content += file.tobuf(tarfile.GNU_FORMAT) + b"one".ljust(512, b"\0") + bytes(1024)
    return io.BytesIO(gzip.compress(content, 1))


def record(key: str, value: str) -> bytes:
    """As POSIX has it, with a length that counts itself."""
    rest = f" {key}={value}\n".encode()
    length = len(rest) + len(str(len(rest) + 1))
    return str(length).encode() + rest


@pytest.mark.parametrize("key", ["mtime", "LIBARCHIVE.xattr.com.apple.quarantine", "uid", "a'b"])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_notes_about_a_file_change_nothing(tmp_path: Path, kind: bytes, key: str) -> None:
    unpack(tar_with(kind, record(key, "1.5")), tmp_path)
    assert {"a": b"one"} == files_of(tmp_path)


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_names_are_kept(tmp_path: Path, form: int) -> None:
    name = "/".join(["ä" * 60] * 4)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        folder = tarfile.TarInfo(name)
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        info = tarfile.TarInfo(f"{name}/b")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"one"))
    unpack(file, tmp_path)
    assert {f"{name}/b": b"one"} == files_of(tmp_path)


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        (tar_with(tarfile.XHDTYPE, record("size", "0")), "another size"),
        (tar_with(tarfile.XHDTYPE, record("size", "-5")), "another size"),
        (tar_with(tarfile.XGLTYPE, record("size", "99999999999")), "another size"),
        (tar_with(tarfile.XHDTYPE, record("GNU.sparse.size", "5")), "holes"),
        (tar_with(tarfile.XHDTYPE, record("GNU.sparse.map", "0,1" * 99)), "holes"),
        (tar_with(tarfile.GNUTYPE_SPARSE, b""), "holes"),
        (tar_with(tarfile.XGLTYPE, record("path", "b")), "the same name"),
        (tar_with(tarfile.XHDTYPE, record("path", "../b")), "leads outside"),
        (tar_with(tarfile.XHDTYPE, record("path", "/etc/passwd")), "leads outside"),
        (tar_with(tarfile.XHDTYPE, record("path", "b\0c")), "leads outside"),
        (tar_with(tarfile.GNUTYPE_LONGNAME, b"../../b\0"), "leads outside"),
        (tar_with(tarfile.XHDTYPE, b"0 a=b\n"), "can't be read"),
        (tar_with(tarfile.XHDTYPE, b"999 a=b\n"), "can't be read"),
        (tar_with(tarfile.XHDTYPE, b"6 a=bc"), "can't be read"),
        (tar_with(tarfile.XHDTYPE, b"\xb2 a=b\n"), "can't be read"),
        (tar_with(tarfile.XHDTYPE, b"9" * 60_000), "can't be read"),
        (tar_with(tarfile.XHDTYPE, b"9" * (1 << 20)), "bytes of notes"),
        (tar_with(tarfile.GNUTYPE_LONGNAME, b"a" * (1 << 20)), "bytes of notes"),
        (tar_with(tarfile.XHDTYPE, record("a", "b"), times=5000), "can't be unpacked"),
    ],
)
def test_notes_that_would_make_a_file_another_are_refused(
    tmp_path: Path, packed: io.BytesIO, said: str
) -> None:
    with pytest.raises(InvalidProblem, match=said):
        unpack(packed, tmp_path)
    assert {} == files_of(tmp_path)


def test_a_zip_whose_list_is_huge_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Both forms of its end say how long the list is; who opens it believes the second."""
    entry = b"PK\x01\x02" + bytes(42)
    entries = entry * ((9 << 20) // len(entry))
    large = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(entries), 4)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, 4 + len(entries), 1)
    for ends, size in ((b"", len(entries)), (large + locator, 46)):
        end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, size, 4, 0)
        with pytest.raises(InvalidProblem, match="more than 20,000 entries"):
            unpack(io.BytesIO(b"PK\x03\x04" + entries + ends + end), tmp_path)
