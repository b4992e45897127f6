"""The wheel of what is installed here, so that a server hands out the client that fits it.

Made from the installed files and their metadata alone, whether they were installed from a wheel or
from a checkout, and with nothing but the standard library: a server has no build tools.
"""

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import kernelbot
from kernelbot import __version__
from kernelbot.domain.distribution import DISTRIBUTION
from kernelbot.domain.errors import Unavailable

_PACKAGES = ("kernelbot", "kernelbot_check")
_COMPILED = "__pycache__"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_WHEEL = b"Wheel-Version: 1.0\nGenerator: kernelbot\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_KEPT = ("METADATA", "entry_points.txt")
"""What the wheel says of itself, besides licences; the rest in `.dist-info` is about how it was
installed here."""


def build_client_wheel() -> bytes:
    """The wheel. The same files give the same bytes. Raises `Unavailable` if this program isn't
    installed, or its metadata is another version's. Blocks."""
    installed = _installed()
    about = f"{DISTRIBUTION.replace('-', '_')}-{__version__}.dist-info"
    files = dict(_sources(Path(kernelbot.__file__).parent.parent))
    files |= {f"{about}/{name}": content for name, content in _metadata(installed)}
    files[f"{about}/WHEEL"] = _WHEEL
    record = f"{about}/RECORD"
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*sorted(files.items()), (record, _record(files, record))]:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()


def _installed() -> Distribution:
    try:
        found = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        found = None
    if found is None or found.version != __version__:
        raise Unavailable(
            f"This server has no client to hand out: {DISTRIBUTION} {__version__} isn't what is "
            "installed where it runs.",
            hint="Whoever runs it installs it again: `make setup` in a checkout.",
        )
    return found


def _sources(root: Path) -> Iterator[tuple[str, bytes]]:
    """The packages' files by path, without what was compiled and what is hidden."""
    for package in _PACKAGES:
        for path in (root / package).rglob("*"):
            name = path.relative_to(root)
            hidden = any(part.startswith(".") for part in name.parts)
            if path.is_file() and not hidden and _COMPILED not in name.parts:
                yield name.as_posix(), path.read_bytes()


def _metadata(installed: Distribution) -> Iterator[tuple[str, bytes]]:
    """What stays of `.dist-info`, by path below it."""
    for path in installed.files or ():
        if path.parts[0].endswith(".dist-info"):
            name = "/".join(path.parts[1:])
            if name in _KEPT or name.startswith("licenses/"):
                yield name, Path(str(path.locate())).read_bytes()


def _record(files: dict[str, bytes], own_name: str) -> bytes:
    """Each file with its hash and size, as installers check them."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.writerow((name, f"sha256={digest}", len(content)))
    lines.writerow((own_name, "", ""))
    return text.getvalue().encode()
