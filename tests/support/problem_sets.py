"""Folders of problems in the public format, as repositories and archives."""

import subprocess
import textwrap
from pathlib import Path

from tests.support.problems import CORRECT, REFERENCE

TASK = """\
lang: py
description: {description}
files:
  - {{name: submission.py, source: "@SUBMISSION@"}}
  - {{name: reference.py, source: reference.py}}
tests:
  - {{size: {size}, seed: 1}}
benchmarks:
  - {{size: 1000, seed: 2}}
"""


def write_problem(root: Path, name: str, *, size: int = 10, description: str = "Sort it.") -> None:
    """A sorting problem's folder."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.yml").write_text(TASK.format(size=size, description=description))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "submission.py").write_bytes(CORRECT)


def write_competition(
    root: Path,
    *names: str,
    file: str = "spring.yaml",
    gpus: str = "[CPU]",
    deadline: str = "",
    more: str = "",
) -> None:
    """A competition file over folders of these names, which are the boards' names, too."""
    lines = ["name: Spring", "description: For all.", f'deadline: "{deadline}"', more, "problems:"]
    for name in names:
        lines += [f"  - directory: {name}", f"    name: {name}", f"    gpus: {gpus}"]
    (root / file).write_text("\n".join(lines) + "\n")


def git(folder: Path, *arguments: str, text: str = "") -> str:
    """Run git there on `text`; returns what it prints."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments],
        check=True,
        capture_output=True,
        text=True,
        input=text,
    )
    return done.stdout.strip()


def commit_all(folder: Path, message: str = "change") -> str:
    """Make the folder a repository if it is none, and commit all; returns the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", textwrap.dedent(message))
    return git(folder, "rev-parse", "HEAD")
