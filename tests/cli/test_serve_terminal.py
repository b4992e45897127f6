"""`kernelbot serve` before a person."""

import json
import os
import pty
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support.terminal import COMMAND, Shell, read_until


@pytest.mark.exhaustive
def test_the_link_and_the_next_step_are_shown_and_the_log_is_in_a_file() -> None:
    # Not pytest's folder: the embedded database's user must be able to reach it.
    with tempfile.TemporaryDirectory(prefix="kernelbot-test-") as folder:
        home = Path(folder)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--data", "data"],
            cwd=home,
            env=Shell(home, {}).environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        os.close(theirs)
        shown = read_until(ours, "serve.log\r\n")
        process.send_signal(signal.SIGINT)
        shown += read_until(ours, None)
        os.close(ours)
        code = process.wait()
        log = (home / "data" / "serve.log").read_text()
        logged = [json.loads(line)["event"] for line in log.splitlines() if line.startswith("{")]
    heads = [line.split(":")[0].strip() for line in shown.split("\r\n") if line]
    assert (0, "KernelBot serves at http", True) == (code, heads[0], "stopping" in logged)
    assert ["Another link, later", "Next", "Log", "Stopping ..."] == heads[2:]
