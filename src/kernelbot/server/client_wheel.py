"""The wheels of what is installed here, so that a server hands out the client that fits it: the
whole, and the client, which has only what its commands reach.

Made from the installed files and their metadata alone, whether they were installed from a wheel or
from a checkout, and with nothing but the standard library: a server has no build tools.
"""

import base64
import csv
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import kernelbot
from kernelbot import __version__
from kernelbot.domain.errors import Unavailable
from kernelbot.platform.distribution import CLIENT_EXTRAS, CLIENT_VERSION, DISTRIBUTION
from kernelbot.server.reachable import files_of_a_client

_PACKAGES = ("kernelbot", "kernelbot_check")
_COMPILED = "__pycache__"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_WHEEL = b"Wheel-Version: 1.0\nGenerator: kernelbot\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_KEPT = ("METADATA", "entry_points.txt")
"""What the wheel says of itself, besides licences; the rest in `.dist-info` is about how it was
installed here."""
_CLIENT_SECTIONS = ("[console_scripts]", "[kernelbot.importers]")
"""Groups of entry points that a client's commands use."""
_MODULE = re.compile(r"^\S+ = ([\w.]+):", re.MULTILINE)
_OF_AN_EXTRA = re.compile(
    r"^Provides-Extra: (?P<one>\S+)|^Requires-Dist:.*extra == '(?P<other>[^']+)'"
)


def build_whole_wheel() -> bytes:
    """The wheel with everything. The same files give the same bytes. Raises `Unavailable` if this
    program isn't installed, or its metadata is another version's. Blocks."""
    metadata = dict(_metadata(_installed()))
    return _wheel(__version__, dict(_sources(_root(), _PACKAGES)), metadata)


def build_client_wheel() -> bytes:
    """The wheel of the client alone; else as `build_whole_wheel`."""
    metadata = dict(_metadata(_installed()))
    declared = _declared_by_a_client(metadata["entry_points.txt"].decode())
    metadata["entry_points.txt"] = declared.encode()
    metadata["METADATA"] = _of_a_client(metadata["METADATA"].decode()).encode()
    root = _root()
    found = files_of_a_client(root, _MODULE.findall(declared))
    reached = {path.relative_to(root).as_posix() for path in found}
    sources = {name: content for name, content in _sources(root, _PACKAGES[:1]) if name in reached}
    return _wheel(CLIENT_VERSION, sources, metadata)


def _root() -> Path:
    return Path(kernelbot.__file__).parent.parent


def _wheel(version: str, sources: dict[str, bytes], metadata: dict[str, bytes]) -> bytes:
    about = f"{DISTRIBUTION.replace('-', '_')}-{version}.dist-info"
    files = sources | {f"{about}/{name}": content for name, content in metadata.items()}
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


def _of_a_client(metadata: str) -> str:
    """The whole's metadata with a client's version, and without the extras it hasn't."""
    head, blank, text = metadata.partition("\n\n")
    lines = [
        f"Version: {CLIENT_VERSION}" if one.startswith("Version:") else one
        for one in head.split("\n")
    ]
    return "\n".join(one for one in lines if not _needs_the_whole(one)) + blank + text


def _declared_by_a_client(entry_points: str) -> str:
    """The client's sections: what else is declared there is the server's."""
    sections = re.split(r"^(?=\[)", entry_points, flags=re.MULTILINE)
    kept = [one.rstrip() for one in sections if one.startswith(_CLIENT_SECTIONS)]
    return "\n\n".join(kept) + "\n"


def _needs_the_whole(line: str) -> bool:
    """Whether a line of the metadata declares such an extra, or what one needs."""
    named = _OF_AN_EXTRA.search(line)
    return named is not None and (named["one"] or named["other"]) not in CLIENT_EXTRAS


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


def _sources(root: Path, packages: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The packages' files by path, without what was compiled and what is hidden."""
    for package in packages:
        for path in _files(root / package):
            name = path.relative_to(root)
            hidden = any(part.startswith(".") for part in name.parts)
            if not hidden and _COMPILED not in name.parts:
                yield name.as_posix(), path.read_bytes()


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder, also those in folders that are linked there, as build tools do."""
    for place, _, names in os.walk(folder, followlinks=True):
        yield from (Path(place, name) for name in names)


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
