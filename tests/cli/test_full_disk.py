"""A disk that runs full under a server, and one that has room again."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.catalog.skeleton import new_problem
from kernelbot.protocol import Lang
from tests.support.terminal import Shell

SIZE = "260m"


@pytest.fixture
def small_disk() -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-small-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def shell(small_disk: Path) -> Iterator[Shell]:
    new_problem(small_disk / "sums", "sums", Lang.PY)
    shell = Shell(small_disk, {})
    with tempfile.TemporaryFile() as log:
        process = shell.serve("serve", "--port", "0", "--data", "data", log=log)
        try:
            while not list(small_disk.glob(".local/state/kernelbot/servers/*.json")):
                assert process.poll() is None
                time.sleep(0.05)
            assert 0 == shell("board", "create", "--from", "sums").code
            yield shell
        finally:
            process.terminate()
            assert 0 == process.wait(timeout=60)


def _submit(shell: Shell) -> int:
    """3: our fault, whether the server couldn't take it in or couldn't judge it; 0: accepted."""
    return shell("submit", "sums/submission.py", "--board", "sums", "--mode", "test").code


@pytest.mark.exhaustive
def test_a_full_disk_is_our_fault_and_passes(shell: Shell, small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass  # full, as it should be
    while_full = _submit(shell)
    ballast.unlink()
    assert [3, 0] == [while_full, _submit(shell)]
