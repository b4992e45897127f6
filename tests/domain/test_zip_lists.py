"""How large the list of a zip's files is, by what its end says."""

import io
import struct
import zipfile

import pytest

from kernelbot.domain.zip_lists import list_bytes

LONGEST = b"x" * 65_535


def an_end(size: int, comment: bytes = b"") -> bytes:
    return struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, size, 0, len(comment)) + comment


def a_large_end(size: int) -> bytes:
    """With what says where it is."""
    end = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, 0)
    return end + struct.pack("<4sIQI", b"PK\x06\x07", 0, 0, 1)


def found(archive: bytes) -> int | None:
    return list_bytes(io.BytesIO(archive))


@pytest.mark.parametrize("comment", [b"", b"a comment", LONGEST])
def test_it_is_what_python_reads(comment: bytes) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.comment = comment
        for number in range(5):
            made.writestr(f"{number}/a'; echo x", "content")
        start = made.start_dir
    assert made.start_dir - start + found_after(buffer, made, comment) == list_bytes(buffer)


def found_after(buffer: io.BytesIO, made: zipfile.ZipFile, comment: bytes) -> int:
    """What lies between the files and the end."""
    return len(buffer.getvalue()) - made.start_dir - 22 - len(comment)


@pytest.mark.parametrize("files", [b"", b"f" * 100_000])
@pytest.mark.parametrize("comment", [b"", LONGEST])
def test_a_large_zip_says_it_elsewhere(files: bytes, comment: bytes) -> None:
    size = 5 << 32
    assert size == found(files + a_large_end(size) + an_end(0xFFFF_FFFF, comment))


@pytest.mark.parametrize(
    "before",
    [
        b"x" * 76,
        b"x" * 56 + a_large_end(5)[56:],
        a_large_end(5)[:56] + b"x" * 20,
        a_large_end(5)[56:],
    ],
    ids=["nothing", "only where", "only what", "nothing before"],
)
def test_what_is_no_large_end_says_nothing(before: bytes) -> None:
    assert 7 == found(before + an_end(7))


def test_a_comment_is_no_end_of_a_large_zip() -> None:
    comment = a_large_end(5)[:56]
    assert 7 == found(a_large_end(5)[56:] + an_end(7, comment))


class Counted(io.BytesIO):
    """Knows how much of it was read."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.read_bytes += len(found)
        return found


def test_only_the_end_of_a_large_file_is_read() -> None:
    archive = Counted(bytes(1_000_000) + an_end(7))
    assert (7, True) == (list_bytes(archive), archive.read_bytes <= 65_535 + 22 + 20 + 56)


def test_an_end_alone_is_a_zip() -> None:
    assert 7 == found(an_end(7))


@pytest.mark.parametrize("archive", [b"", b"no zip", an_end(7)[:-1], LONGEST + an_end(7)[:21]])
def test_what_has_no_end_has_no_list(archive: bytes) -> None:
    assert found(archive) is None
