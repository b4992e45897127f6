"""A server that is started as people start it, and ends with a file's tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.environment.wire import Served
from tests.library.conftest import home, patient, sums

__all__ = ["home", "patient", "sums"]

Start = Callable[..., "Iterator[Served]"]


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """`kernelbot env serve` with these arguments, on a port that is free, until the block ends;
    then it ends by SIGTERM, and in order."""
    command = [sys.executable, "-m", "kernelbot", "env", "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if " at http" not in line:
            _, said = process.communicate(timeout=60)
            pytest.fail(f"it didn't start: {said}")
        server = Served(line.split()[-1], process.pid)
        yield server
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        assert (0, "") == (process.returncode, "\n".join(_failures(said)))
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _failures(said: str) -> list[str]:
    return [line for line in said.splitlines() if "Traceback" in line or "Error" in line]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def server(home: Path, sums: Path, records: Path) -> Iterator[Served]:
    """Rewards tests that passed, and records."""
    with served(
        *(str(sums), "--reward", "tests", "--pay", "each", "--attempts", "3", "--slots", "2"),
        *("--held-out", "nothing", "--sessions", "100", "--record", str(records)),
    ) as found:
        yield found
