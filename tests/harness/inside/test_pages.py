"""Large pages: asked of processes of their own, since pages stay as they were put."""

import subprocess
import sys

import pytest

from tests.support.terminal import SOURCE

_PREPARE = """
import hashlib, os, re
from pathlib import Path
from kernelbot.harness.inside.pages import gather_pages

def large_bytes():
    text = Path("/proc/self/smaps").read_text()
    return 1024 * sum(map(int, re.findall(r"AnonHugePages: +(\\d+) kB", text)))

data = bytearray(os.urandom(1 << 20) * 32)
digest = hashlib.sha256(data).hexdigest()
before = large_bytes()
"""


def _run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _PREPARE + program],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    if done.stdout.strip() == "none":
        pytest.skip("this kernel puts nothing into large pages when asked")
    return done.stdout.strip()


def test_memory_moves_to_large_pages_and_keeps_its_content() -> None:
    said = _run("""
gathered = gather_pages()
same = digest == hashlib.sha256(data).hexdigest()
print("none" if not gathered else (same, large_bytes() - before >= 30 << 20))
""")
    assert "(True, True)" == said


def test_what_a_fork_writes_stays_its_own() -> None:
    said = _run("""
gathered = gather_pages()
child = os.fork()
if child == 0:
    data[:] = bytes(len(data))
    os._exit(0)
os.waitpid(child, 0)
print("none" if not gathered else digest == hashlib.sha256(data).hexdigest())
""")
    assert "True" == said
