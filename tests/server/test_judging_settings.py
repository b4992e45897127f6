from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.server.judging_settings import cached_judging_settings, read_judging_settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrivateFolder:
    monkeypatch.chdir(tmp_path)
    return PrivateFolder.open(tmp_path / "private")


def test_what_is_kept_is_what_was_read(folder: PrivateFolder) -> None:
    Path("kernelbot.toml").write_text('devices = [{name = "Mine"}]\n')
    read = read_judging_settings()
    assert [read] * 2 == [cached_judging_settings(folder) for _ in range(2)]
    assert 1 == len(folder.names())


def test_a_change_is_noticed(folder: PrivateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_judging_settings(folder)
    Path("kernelbot.toml").write_text("[sampling]\nwall_cap_s = 0.5\n")
    assert 0.5 == cached_judging_settings(folder).sampling.wall_cap_s
    monkeypatch.setenv("KERNELBOT_SAMPLING__WALL_CAP_S", "0.25")
    assert 0.25 == cached_judging_settings(folder).sampling.wall_cap_s


def test_a_mistake_is_told_each_time(folder: PrivateFolder) -> None:
    Path("kernelbot.toml").write_text("devices = 5\n")
    for _ in range(2):
        with pytest.raises(UserError, match="devices"):
            cached_judging_settings(folder)


def test_what_can_not_be_read_back_is_read_anew(folder: PrivateFolder) -> None:
    read = cached_judging_settings(folder)
    folder.at(folder.names()[0]).write_bytes(b"\xff{")
    assert read == cached_judging_settings(folder)
