import contextlib
import io
import stat
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.launchers.zipped import BadArchive, read_file
from tests.support.zips import zip_of_zeros, zipped


def test_the_file_is_read() -> None:
    archive = zipped(("profile_data/x", b"1"), ("result.json", b"{}"))
    assert read_file(archive, "result.json", 100) == b"{}"


@pytest.mark.parametrize(
    "name", ["../result.json", "/result.json", "./result.json", "a/result.json", "result.json/"]
)
def test_names_that_lead_elsewhere_are_not_the_file(name: str) -> None:
    assert read_file(zipped((name, b"{}")), "result.json", 100) is None


def test_a_link_is_followed_nowhere() -> None:
    archive = zipped(("result.json", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777)
    assert read_file(archive, "result.json", 100) == b"/etc/passwd"


def test_a_bomb_is_read_as_far_as_it_may() -> None:
    archive = zip_of_zeros("result.json", 2048)
    assert len(read_file(archive, "result.json", 1000) or b"") == 1001


def test_too_many_names_are_refused_unread() -> None:
    archive = zipped(*((f"{number:0200}", b"") for number in range(5000)))
    with pytest.raises(BadArchive, match="too many files"):
        read_file(archive, "result.json", 100)


@pytest.mark.parametrize("archive", [b"", b"<html>", b"PK\x05\x06", b"PK\x05\x06" + bytes(18)[:17]])
def test_what_is_no_zip_is_refused(archive: bytes) -> None:
    with pytest.raises(BadArchive):
        read_file(archive, "result.json", 100)


def test_an_offset_that_no_file_has_is_refused() -> None:
    """In the form for large archives, where it has 64 bits."""
    archive = bytearray(zipped(("result.json", b"{}")))
    entry = archive.index(b"PK\x01\x02")
    extra = struct.pack("<HHQ", 1, 8, 1 << 63)
    name_bytes, end = len("result.json"), archive.index(b"PK\x05\x06")
    archive[entry + 30 : entry + 32] = struct.pack("<H", len(extra))
    archive[entry + 42 : entry + 46] = b"\xff" * 4
    archive[end + 12 : end + 16] = struct.pack("<I", end - entry + len(extra))
    at = entry + 46 + name_bytes
    archive[at:at] = extra
    with pytest.raises(BadArchive, match="can't be read"):
        read_file(bytes(archive), "result.json", 100)


def test_an_encrypted_file_is_refused() -> None:
    archive = bytearray(zipped(("result.json", b"{}")))
    archive[archive.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadArchive, match="encrypted"):
        read_file(bytes(archive), "result.json", 100)


@given(st.data())
def test_any_damage_is_survived(data: st.DataObject) -> None:
    archive = bytearray(zipped(("result.json", b"{}" * 20), ("b", b"x")))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(archive) - 1))
        archive[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BadArchive):
        read_file(bytes(archive), "result.json", 1000)


def test_a_file_that_says_how_much_memory_it_needs_is_not_unpacked() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("result.json", b"{}")
    with pytest.raises(BadArchive, match="in a way that isn't read"):
        read_file(content.getvalue(), "result.json", 100)
