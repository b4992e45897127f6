"""Builds the harness as one file: `python3 kernelbot-harness.pyz` on a bare Python 3.11.

And says which harness this is, by a hash of its sources; only building needs to load `zipfile`.
"""

import hashlib
import os
from functools import cache
from pathlib import Path

_PACKAGES = ("protocol", "harness")
_SUFFIXES = (".py", ".c", ".h")
_COMPILED = "__pycache__"
_START = "__main__.py"
_MAIN = """\
from kernelbot.protocol.garbage import loading

with loading():
    from kernelbot.harness.host.cli import main

main()
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(target: Path) -> Path:
    """Write the zipapp to `target` and return it. The same sources give the same bytes."""
    import tempfile
    import zipfile

    files = _sources()
    files[_START] = _MAIN.encode()
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


@cache
def sources_sha256() -> str:
    """SHA-256 of what `sha256sum` prints of the harness's files, in the order of their paths. The
    same for a source tree, an installation and the one file that `build` writes."""
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(_sources().items())
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _sources() -> dict[str, bytes]:
    """The harness's files by path, wherever this one runs from."""
    root = _root()
    if root.is_file():
        import zipfile

        with zipfile.ZipFile(root) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != _START}
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in _paths(root)}


def sources_stamp() -> list[tuple[str, int, int, int]]:
    """What changes whenever one of the harness's files does, in a third of the time that reading
    them takes: their paths, inodes, and times of change."""
    root = _root()
    paths = [root] if root.is_file() else _paths(root)
    found = [(str(path), path.stat()) for path in sorted(paths)]
    return [(name, one.st_ino, one.st_mtime_ns, one.st_ctime_ns) for name, one in found]


def _root() -> Path:
    """The folder of the packages, or the one file."""
    return Path(__file__).resolve().parents[2]


def _paths(root: Path) -> list[Path]:
    paths = [root / "kernelbot" / "__init__.py", *(root / "kernelbot_check").glob("*.py")]
    for package in _PACKAGES:
        for folder, folders, names in os.walk(root / "kernelbot" / package):
            if _COMPILED in folders:
                folders.remove(_COMPILED)
            paths += [Path(folder, name) for name in names if name.endswith(_SUFFIXES)]
    return paths
