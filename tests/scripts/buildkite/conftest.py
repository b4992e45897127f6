"""The scripts as they are run: as programs, on a folder instead of the machine's files."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "scripts/buildkite"
TOKEN = "bkct_s3cret-Token"
_PROGRAM = """#!/bin/sh
echo "{name} $*" >> "{log}"
{body}
"""


@dataclass(frozen=True)
class Machine:
    """A folder in the place of `/`, and programs that write down how they were called."""

    root: Path

    @property
    def log(self) -> Path:
        """One line a call."""
        return self.root / "log"

    def calls(self) -> list[str]:
        """All so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def put_program(self, name: str, body: str = "") -> None:
        """In front of the machine's own of that name. `body`: what it does besides, for sh."""
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(_PROGRAM.format(name=name, log=self.log, body=body))
        path.chmod(0o755)

    def put_file(self, path: str, text: str) -> Path:
        """A file of the machine's."""
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the scripts, with nobody to ask."""
        return subprocess.run(
            [str(SCRIPTS / script), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
                "DESTDIR": str(self.root),
            },
        )

    def files(self) -> dict[str, tuple[int, str]]:
        """Mode and text of each file, but for our own."""
        plain = [path for path in self.root.rglob("*") if path.is_file()]
        own = (self.root / "bin", self.log)
        return {
            f"/{path.relative_to(self.root)}": (path.stat().st_mode & 0o777, path.read_text())
            for path in sorted(plain)
            if not any(path.is_relative_to(part) for part in own)
        }


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With what an agent needs: a token, docker, systemd and the agent."""
    made = Machine(tmp_path)
    made.put_file("/etc/buildkite-agent/token", f"{TOKEN}\n").chmod(0o644)
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    for name in ("systemctl", "docker", "buildkite-agent", "usermod", "nvidia-smi", "pgrep"):
        made.put_program(name)
    return made


Golden = Callable[[str, str], None]


@pytest.fixture
def golden() -> Golden:
    """Compares a text with a file; UPDATE_GOLDEN=1 writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            path.write_text(text)
        assert path.read_text() == text

    return compare
