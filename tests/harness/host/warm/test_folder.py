import os
import socket
from pathlib import Path

import pytest

from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, default_folder, peer_pid


def test_a_new_folder_is_this_users_alone(tmp_path: Path) -> None:
    folder = PrivateFolder.open(tmp_path / "a'; echo x")
    assert 0o700 == folder.path.stat().st_mode & 0o777


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    with pytest.raises(NotOurs, match="make it yours alone by chmod 700"):
        PrivateFolder.open(tmp_path)


def test_a_folder_of_another_account_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(NotOurs, match=rf"belongs to another account \(user {owner}\)"):
        PrivateFolder.open(tmp_path)


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_no_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    if kind == "link":
        (tmp_path / "found").symlink_to(tmp_path / "real")
    else:
        (tmp_path / "found").write_text("")
    with pytest.raises(NotOurs, match="isn't a folder that we can enter"):
        PrivateFolder.open(tmp_path / "found")


def test_a_process_of_another_account_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = socket.socketpair()
    with near, far:
        ours = peer_pid(near)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(NotOurs, match="another account"):
            peer_pid(near)
    assert os.getpid() == ours


@pytest.mark.parametrize("runtime", [None, "", "relative", "/nowhere"])
def test_without_a_runtime_folder_it_is_below_tmp(
    monkeypatch: pytest.MonkeyPatch, runtime: str | None
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    if runtime is not None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    assert Path(f"/tmp/kernelbot-{os.geteuid()}") == default_folder()
