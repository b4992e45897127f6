"""A folder that changes while it is packed for a sync."""

import tarfile
from pathlib import Path

import pytest

from kernelbot.boards.sync.model import SyncOptions
from kernelbot.cli.sync import _send
from kernelbot.client import KernelbotClient
from kernelbot.domain.errors import UserError


def test_a_file_that_became_shorter_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "task.yml"
    file.write_text("lang: py")
    described = tarfile.TarFile.gettarinfo

    def then_cut(self: tarfile.TarFile, name: str, arcname: str) -> tarfile.TarInfo:
        found = described(self, name, arcname)
        file.write_text("")
        return found

    monkeypatch.setattr(tarfile.TarFile, "gettarinfo", then_cut)
    with (
        KernelbotClient("http://127.0.0.1:1") as client,
        pytest.raises(UserError, match=r"can't be read: unexpected end of data\."),
    ):
        _send(client, str(tmp_path), None, SyncOptions())
