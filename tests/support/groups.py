"""Processes that tests start as groups of their own."""

import contextlib
import os
import subprocess


def signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the process's group, unless it was waited for: its number may be somebody else's."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
