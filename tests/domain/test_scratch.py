import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kernelbot.domain.scratch import scratch_folder

_LONG_AGO_S = 1_000_000_000
_USES = """
import sys, tempfile
from kernelbot.domain.scratch import scratch_folder
tempfile.tempdir = sys.argv[1]
with scratch_folder("kernelbot-test-") as folder:
    (folder / "large").write_bytes(bytes(1000))
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def _made(folder: Path) -> "tuple[subprocess.Popen[str], Path]":
    """Another process, and the folder that it uses until it is killed."""
    user = subprocess.Popen(
        [sys.executable, "-c", _USES, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert user.stdout is not None
    return user, Path(user.stdout.readline().strip())


def _end(user: "subprocess.Popen[str]") -> None:
    user.kill()
    user.communicate()


def test_nothing_is_left() -> None:
    with scratch_folder("kernelbot-test-") as folder:
        (folder / "file").touch()
    assert not folder.exists()


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: Path) -> None:
    user, left = _made(tmp_path)
    _end(user)
    os.utime(left, (_LONG_AGO_S, _LONG_AGO_S))
    with scratch_folder("kernelbot-other-"):
        assert left.exists()
    with scratch_folder("kernelbot-test-"):
        assert not left.exists()


def test_what_is_used_stays(tmp_path: Path) -> None:
    user, used = _made(tmp_path)
    os.utime(used, (_LONG_AGO_S, _LONG_AGO_S))
    with scratch_folder("kernelbot-test-"):
        assert (used / "large").exists()
    _end(user)


def test_what_may_not_be_locked_yet_stays(tmp_path: Path) -> None:
    made = tmp_path / "kernelbot-test-now"
    made.mkdir()
    with scratch_folder("kernelbot-test-"):
        assert made.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.utime(elsewhere, (_LONG_AGO_S, _LONG_AGO_S))
    (tmp_path / "kernelbot-test-link").symlink_to(elsewhere)
    with scratch_folder("kernelbot-test-"):
        assert elsewhere.exists()
