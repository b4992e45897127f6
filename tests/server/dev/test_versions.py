import os
from pathlib import Path

import pytest

from kernelbot.domain.errors import InvalidSubmission, NotFound
from kernelbot.protocol import Verdict
from kernelbot.server.dev.files import read_now, write_whole
from kernelbot.server.dev.versions import LogEntry, Versions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a'; echo x\n.py"


@pytest.fixture
def versions(file: Path, tmp_path: Path) -> Versions:
    return Versions(file, tmp_path / "state")


def judged(versions: Versions, content: bytes) -> LogEntry:
    return versions.add(versions.keep(content), Verdict.ACCEPTED, 0.5)


def test_versions_are_found_by_number_and_by_hash(versions: Versions) -> None:
    first, second = judged(versions, b"one"), judged(versions, b"two")
    again = judged(versions, b"one")
    assert [1, 2, 3] == [entry.number for entry in versions.entries()]
    assert (second, first, again) == (
        versions.find("2"),
        versions.find("1"),
        versions.find(first.sha256[:8].upper()),
    )
    assert [b"one", b"two"] == [versions.content(entry) for entry in (again, second)]


@pytest.mark.parametrize("name", ["4", "0", "-1", "", "abc", "../log", "zzzzzzzz", "x" * 10_000])
def test_what_is_no_version_is_not_found(versions: Versions, name: str) -> None:
    judged(versions, b"one")
    with pytest.raises(NotFound, match="There is no version"):
        versions.find(name)


def test_a_line_that_was_cut_off_costs_no_other(
    versions: Versions, file: Path, tmp_path: Path
) -> None:
    judged(versions, b"one")
    (log,) = (tmp_path / "state").rglob("log.jsonl")
    with log.open("ab") as opened:
        opened.write(b'{"number": 2, "at"')
    judged(versions, b"two")
    assert [1, 2] == [entry.number for entry in Versions(file, tmp_path / "state").entries()]


@pytest.mark.parametrize("present", [b"newest", b"\xff\xfe\x00", b""])
def test_restoring_keeps_what_was_there(versions: Versions, file: Path, present: bytes) -> None:
    old = judged(versions, b"old")
    file.write_bytes(present)
    file.chmod(0o640)
    kept = versions.restore(old)
    assert kept is not None
    assert (b"old", present, None, 0o640) == (
        file.read_bytes(),
        versions.content(kept),
        kept.verdict,
        file.stat().st_mode & 0o777,
    )


def test_restoring_makes_a_file_that_is_gone(versions: Versions, file: Path) -> None:
    assert None is versions.restore(judged(versions, b"old"))
    assert b"old" == file.read_bytes()


@pytest.mark.parametrize("kind", ["fifo", "folder", "huge"])
def test_what_can_not_be_kept_is_not_replaced(versions: Versions, file: Path, kind: str) -> None:
    old = judged(versions, b"old")
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"#" * (2 << 20))
    before = file.lstat()
    with pytest.raises(InvalidSubmission):
        versions.restore(old)
    after = file.lstat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_link_stays_one(versions: Versions, file: Path, tmp_path: Path) -> None:
    (tmp_path / "real.py").write_bytes(b"new")
    old = judged(versions, b"old")
    file.symlink_to(tmp_path / "real.py")
    versions.restore(old)
    assert (True, b"old") == (file.is_symlink(), (tmp_path / "real.py").read_bytes())


def test_what_can_not_be_put_back_leaves_nothing_beside_the_file(file: Path) -> None:
    file.mkdir()
    with pytest.raises(InvalidSubmission, match="can't be written"):
        write_whole(file, b"one")
    assert [file] == list(file.parent.iterdir())


def test_a_loop_of_links_has_no_versions(tmp_path: Path) -> None:
    file = tmp_path / "loop.py"
    file.symlink_to(file)
    assert [] == list(Versions(file, tmp_path / "state").entries())


def test_a_file_that_can_not_be_read_is_named_once(tmp_path: Path) -> None:
    file = tmp_path / "loop.py"
    file.symlink_to(file)
    with pytest.raises(InvalidSubmission) as caught:
        read_now(file)
    assert f"{file} can't be read: Too many levels of symbolic links." == str(caught.value)
