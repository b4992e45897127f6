import os
from pathlib import Path

import pytest

from kernelbot.harness.archive import sources_sha256
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.protocol import CompileReport

_REPORT = CompileReport(command="g++ a b", output="words", duration_s=1.5, cached=False)


def test_a_build_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    cache.store("key", _REPORT, b"\n\x00binary\n")
    found = cache.load("key")
    assert found is not None
    assert (_REPORT, b"\n\x00binary\n") == (found.report, found.binary)


def test_an_unknown_key_is_a_miss(tmp_path: Path) -> None:
    assert None is BuildCache(tmp_path / "cache").load("key")


@pytest.mark.parametrize("damage", [b"", b"{}\nbinary", b"[]\n", b"\xff\xfe", b'{"report": 1}\n'])
def test_a_damaged_entry_is_a_miss(tmp_path: Path, damage: bytes) -> None:
    cache = BuildCache(tmp_path / "cache")
    (tmp_path / "cache" / "key.build").write_bytes(damage)
    assert None is cache.load("key")


def test_a_changed_binary_is_a_miss(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    cache.store("key", _REPORT, b"binary")
    path = tmp_path / "cache" / "key.build"
    path.write_bytes(path.read_bytes().replace(b"binary", b"benign"))
    assert None is cache.load("key")


def test_a_build_of_another_harness_is_a_miss(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    cache.store("key", _REPORT, b"binary")
    path = tmp_path / "cache" / "key.build"
    path.write_bytes(path.read_bytes().replace(sources_sha256().encode(), b"0" * 64))
    assert None is cache.load("key")


def test_where_no_folder_can_be_there_is_none(tmp_path: Path) -> None:
    """Root may write anywhere, so no mode forbids it; /proc is no place for folders."""
    (tmp_path / "file").touch()
    assert None is BuildCache.where_possible(tmp_path / "file" / "kernelbot")
    assert None is BuildCache.where_possible(Path("/proc/kernelbot/builds"))
    assert None is not BuildCache.where_possible(tmp_path / "kernelbot" / "builds")


def test_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="written by others"):
        BuildCache(folder)


def test_the_longest_unused_entries_make_room(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache", limit_bytes=5000)
    for key in ("old", "middle", "new"):
        cache.store(key, _REPORT, b"x" * 2000)
    assert [False, True, True] == [cache.load(k) is not None for k in ("old", "middle", "new")]


def test_a_build_that_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    with pytest.MonkeyPatch.context() as full_disk:
        full_disk.setattr(Path, "write_bytes", lambda *_: os.write(os.open("/dev/full", 1), b"x"))
        cache.store("key", _REPORT, b"binary")
    assert (None, []) == (cache.load("key"), list((tmp_path / "cache").iterdir()))
