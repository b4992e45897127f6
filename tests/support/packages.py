"""Packages of somebody else's, as an installer would lay them down."""

import sys
from pathlib import Path

import pytest


def install(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, module: str, group: str, entry: str
) -> None:
    """Lay the module `their_package` and what its package says of itself into `folder`, where both
    are found until the test ends. `entry`: a line of the group, `cron = their_package:Table`."""
    about = folder / "their_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    (folder / "their_package.py").write_text(module)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "their_package", raising=False)
