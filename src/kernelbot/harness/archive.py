"""Builds the harness as one file: `python3 kernelbot-harness.pyz` on a bare Python 3.11."""

import tempfile
import zipfile
from pathlib import Path

_PACKAGES = ("protocol", "harness")
_SUFFIXES = (".py", ".c")
_MAIN = "from kernelbot.harness.cli import main\n\nmain()\n"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(target: Path) -> Path:
    """Write the zipapp to `target` and return it. The same sources give the same bytes."""
    root = Path(__file__).resolve().parents[2]
    files = {"kernelbot/__init__.py": _read(root, "kernelbot/__init__.py")}
    for package in _PACKAGES:
        for path in sorted((root / "kernelbot" / package).rglob("*.*")):
            if path.suffix not in _SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            files[name] = path.read_bytes()
    for path in sorted((root / "kernelbot_check").glob("*.py")):
        files[path.relative_to(root).as_posix()] = path.read_bytes()
    files["__main__.py"] = _MAIN.encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as partial:
        partial.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(files.items()):
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content)
    path = Path(partial.name)
    path.chmod(0o755)
    return path.rename(target)


def _read(root: Path, name: str) -> bytes:
    return (root / name).read_bytes()
