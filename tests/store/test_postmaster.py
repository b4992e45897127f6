"""What is known of a Postgres that another process has left."""

import subprocess
import sys

from kernelbot.store.postmaster import alive

STRANGE = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, b"\\xff) Z 1", 0, 0, 0)
print("named", flush=True)
sys.stdin.read()
"""


def test_a_process_whose_name_is_no_text_lives_until_it_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STRANGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert b"named\n" == process.stdout.readline()
        lives = alive(process.pid)
    assert (True, False) == (lives, alive(process.pid))
