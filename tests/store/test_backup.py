import os
import resource
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.store.backup import dump, keep_dump


def test_only_the_latest_are_kept(database_url: str, tmp_path: Path) -> None:
    files = [keep_dump(database_url, tmp_path / "kept", 2) for _ in range(3)]
    assert files[1:] == sorted((tmp_path / "kept").iterdir())


def test_a_disk_that_gets_full_leaves_no_part_of_a_file(database_url: str, tmp_path: Path) -> None:
    first = keep_dump(database_url, tmp_path / "kept", 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(UserError, match="backup could not be made"):
            keep_dump(database_url, tmp_path / "kept", 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [first] == list((tmp_path / "kept").iterdir())


def test_what_a_killed_backup_of_the_same_number_left_is_replaced(
    database_url: str, tmp_path: Path
) -> None:
    """In a container the number of the process is the same each time."""
    (tmp_path / f".x.dump.{os.getpid()}").write_bytes(b"a part of it")
    size_bytes = dump(database_url, tmp_path / "x.dump")
    found = [(file.name, file.stat().st_size) for file in tmp_path.iterdir()]
    assert [("x.dump", size_bytes)] == found


def test_what_killed_backups_left_is_not_kept(database_url: str, tmp_path: Path) -> None:
    (tmp_path / ".2001-01-01T00-00-00.000000Z.dump.7").write_bytes(b"a part of it")
    file = keep_dump(database_url, tmp_path, 2)
    assert [file] == list(tmp_path.iterdir())
