"""The command line as a process of its own, away from this account's files."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kernelbot.harness.timing.turns import VARIABLE
from tests.support import forked

SOURCE = Path(__file__).resolve().parents[2] / "src"
_READ_AT_THE_START = ("PYTHON", "LANG", "LC_")
"""How variables begin that a Python reads when it starts, not when it is forked."""
_WAIT_S = 60.0
COMMAND = (sys.executable, "-P", "-m", "kernelbot.cli")


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """stdout as the one JSON document it must be."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True)
class Shell:
    """Runs `kernelbot` in a folder, with that folder as its home."""

    home: Path
    more: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """Only the folder's configuration, none of this account's."""
        kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
        kept["KERNELBOT_WARM"] = '["numpy"]'  # to load torch as well takes a server seconds
        kept["KERNELBOT_COLD"] = "1"  # no judge of a test's stays behind
        # Nobody takes turns with what runs beside this: neither other tests nor this account.
        kept |= {"XDG_RUNTIME_DIR": str(self.home), VARIABLE: ""}
        return {**kept, "HOME": str(self.home), "COLUMNS": "100", **self.more}

    def __call__(self, *arguments: str | os.PathLike[str], timeout_s: float = 60.0) -> Said:
        """Nobody is there to be asked."""
        words = [os.fspath(argument) for argument in arguments]
        if any(name.startswith(_READ_AT_THE_START) for name in self.more):
            done = self._anew(words, timeout_s)
        else:
            done = forked.run(words, self.home, self.environment, timeout_s)
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def _anew(self, words: list[str], timeout_s: float) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [*COMMAND, *words],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self, *arguments: str | os.PathLike[str]) -> "subprocess.Popen[str]":
        """Start one and don't wait; its output is on pipes. Ctrl-C works, also if the tests were
        started by a shell that shields what it starts from it."""
        ours = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return self._start(*arguments)
        finally:
            signal.signal(signal.SIGINT, ours)

    def _start(self, *arguments: str | os.PathLike[str]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.home,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def serve(self, *arguments: str, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start a server whose log goes to a file."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def read_until(terminal: int, text: str | None) -> str:
    """What a terminal shows up to a text; None: to the end."""
    shown = b""
    deadline = time.monotonic() + _WAIT_S
    while text is None or text.encode() not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:  # what a terminal says when nobody writes to it any more
                piece = b""
            if not piece:
                assert text is None, shown
                break
            shown += piece
    return shown.decode()
