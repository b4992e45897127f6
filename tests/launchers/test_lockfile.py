import os
import subprocess
import sys
from pathlib import Path

from kernelbot.launchers.lockfile import LockFile, is_held


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    first = LockFile.acquire(tmp_path / "new" / "lock")
    assert first is not None
    assert LockFile.acquire(tmp_path / "new" / "lock") is None
    first.release()


def test_a_released_lock_can_be_had_again(tmp_path: Path) -> None:
    first = LockFile.acquire(tmp_path / "lock")
    assert first is not None
    first.release()
    first.release()
    second = LockFile.acquire(tmp_path / "lock")
    assert second is not None
    second.release()


def test_nobody_holds_what_is_not_there(tmp_path: Path) -> None:
    assert is_held(tmp_path / "lock") is None


def test_a_child_that_inherits_a_lock_holds_it_until_its_end(tmp_path: Path) -> None:
    lock = LockFile.acquire(tmp_path / "lock")
    assert lock is not None
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock.descriptor,)
    )
    lock.release()
    held = is_held(tmp_path / "lock")
    child.kill()
    child.communicate()
    assert (held, is_held(tmp_path / "lock")) == (True, False)


def test_what_is_noted_can_be_read(tmp_path: Path) -> None:
    lock = LockFile.acquire(tmp_path / "lock")
    assert lock is not None
    lock.note("a long first word")
    lock.note(f"process {os.getpid()}")
    assert (tmp_path / "lock").read_text() == f"process {os.getpid()}"
    lock.release()
