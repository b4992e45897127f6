import resource
from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.store.backup import keep_dump


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
