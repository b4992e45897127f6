"""Builds the harness as one file: `python3 kernelbot-harness.pyz` on a bare Python 3.11.

And says which harness this is, by a hash of its sources; only building needs to load `zipfile`.
"""

import hashlib
from functools import cache
from pathlib import Path

_PACKAGES = ("protocol", "harness")
_SUFFIXES = (".py", ".c")
_START = "__main__.py"
_MAIN = "from kernelbot.harness.cli import main\n\nmain()\n"
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
    root = Path(__file__).resolve().parents[2]
    if root.is_file():
        import zipfile

        with zipfile.ZipFile(root) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != _START}
    paths = [root / "kernelbot" / "__init__.py", *(root / "kernelbot_check").glob("*.py")]
    for package in _PACKAGES:
        found = (root / "kernelbot" / package).rglob("*.*")
        paths += [path for path in found if path.suffix in _SUFFIXES]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
