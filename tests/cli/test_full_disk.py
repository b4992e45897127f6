"""A disk that runs full under a server, and one that has room again."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.protocol import Lang
from tests.support.small_disk import small_disk
from tests.support.terminal import Shell

PATIENCE_S = 300.0
"""For a command: a server on a busy machine starts within a minute, and judges within another."""


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk("260m") as folder:
        yield folder


@pytest.fixture
def shell(disk: Path) -> Iterator[Shell]:
    new_problem(disk / "sums", "sums", Lang.PY)
    shell = Shell(disk, {})
    with tempfile.TemporaryFile() as log:
        process = shell.serve("serve", "--port", "0", "--data", "data", log=log)
        try:
            while not list(disk.glob(".local/state/kernelbot/servers/*.json")):
                assert process.poll() is None
                time.sleep(0.05)
            assert 0 == shell("board", "create", "--from", "sums", timeout_s=PATIENCE_S).code
            yield shell
        finally:
            process.terminate()
            assert 0 == process.wait(timeout=60)


def _submit(shell: Shell) -> int:
    """3: our fault, whether the server couldn't take it in or couldn't judge it; 0: accepted."""
    words = ("submit", "sums/submission.py", "--board", "sums", "--mode", "test")
    return shell(*words, timeout_s=PATIENCE_S).code


@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
def test_a_full_disk_is_our_fault_and_passes(shell: Shell, disk: Path) -> None:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass  # full, as it should be
    while_full = _submit(shell)
    ballast.unlink()
    assert [3, 0] == [while_full, _submit(shell)]
