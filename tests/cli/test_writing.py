"""Files that a command writes where there is no room for them."""

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from kernelbot.cli.writing import write_file, write_new_files
from kernelbot.domain.errors import UserError
from tests.support.nobody import as_nobody

LARGE = "x" * 100_000


@contextmanager
def no_room() -> Iterator[None]:
    """The system writes no file beyond 4 kB: as on a full disk, its error names no file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_part_of_a_file_does_not_stay(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    with no_room(), pytest.raises(UserError, match=f"^{file} can't be written"):
        write_file(file, LARGE, force=False)
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("kept")
    with no_room(), pytest.raises(UserError, match=f"^{file} can't be written"):
        write_file(file, LARGE, force=True)
    assert ([file], "kept") == (list(tmp_path.iterdir()), file.read_text())


def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    file, link = tmp_path / "mine.py", tmp_path / "link.py"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_file(link, "new", force=True)
    assert ("new", 0o640, True) == (
        file.read_text(),
        file.stat().st_mode & 0o777,
        link.is_symlink(),
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
def test_a_file_that_is_ours_in_a_folder_that_is_not_is_replaced_in_place() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        file = Path(folder, "mine.py")
        file.write_text("old")
        file.chmod(0o666)
        assert (0, "") == as_nobody(lambda: write_file(file, "new", force=True))
        assert "new" == file.read_text()


def test_a_name_of_any_length_is_replaced_and_ctrl_c_leaves_no_draft(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 255)
    file.write_text("old")
    with patch.object(os, "replace", side_effect=KeyboardInterrupt), suppress(KeyboardInterrupt):
        write_file(file, "new", force=True)
    assert ([file], "old") == (list(tmp_path.iterdir()), file.read_text())
    write_file(file, "new", force=True)
    assert ([file], "new") == (list(tmp_path.iterdir()), file.read_text())


def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with no_room(), pytest.raises(UserError, match=f"^{second} can't be written"):
        write_new_files({first: "small", second: LARGE})
    assert [] == list(tmp_path.iterdir())
    write_new_files({first: "small", second: LARGE})
    assert {"first": "small", "second": LARGE} == {
        path.name: path.read_text() for path in tmp_path.iterdir()
    }
