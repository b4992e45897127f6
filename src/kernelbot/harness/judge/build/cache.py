"""Compiled submissions on disk, so that the same source is compiled once per machine.

Only the trusted side reads and writes here; a runner neither sees the folder nor names a key.
"""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kernelbot.harness.archive import sources_sha256
from kernelbot.protocol import CompileReport, VersionMismatch, WireError, from_wire, to_wire

_SUFFIX = ".build"


@dataclass(frozen=True)
class CachedBuild:
    """The result of an earlier build."""

    report: CompileReport
    binary: bytes


class BuildCache:
    """A folder of builds by key. Anything wrong with an entry makes it a miss, never an error."""

    def __init__(self, folder: Path, limit_bytes: int = 1 << 30) -> None:
        """Use `folder`, created if necessary, which only its owner can read.

        Raises PermissionError if it belongs to somebody else or others may write there, and OSError
        if it can't be made.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(f"The compile cache {folder} could be written by others.")
        self._folder = folder
        self._limit_bytes = limit_bytes

    @classmethod
    def where_possible(cls, folder: Path) -> Self | None:
        """The cache in `folder`; None if that can't be used, as in a home that is read-only, or if
        others may write there: then each source is compiled again."""
        try:
            return cls(folder)
        except OSError:
            return None

    def load(self, key: str) -> CachedBuild | None:
        """The build stored under `key`, if it exists, is complete, and is this harness's: another
        may build with other flags, in another sandbox, or read something else in a report."""
        path = self._folder / (key + _SUFFIX)
        try:
            header, _, binary = path.read_bytes().partition(b"\n")
            described = json.loads(header)
            report = from_wire(CompileReport, described["report"])
            if described["harness"] != sources_sha256():
                return None
            if described["sha256"] != hashlib.sha256(binary).hexdigest():
                return None
            os.utime(path)
        except (OSError, ValueError, KeyError, TypeError, WireError, VersionMismatch):
            return None
        return CachedBuild(report, binary)

    def store(self, key: str, report: CompileReport, binary: bytes) -> None:
        """Keep a build; a full or read-only disk only means that it isn't kept."""
        digest = hashlib.sha256(binary).hexdigest()
        described = {"report": to_wire(report), "sha256": digest, "harness": sources_sha256()}
        header = json.dumps(described).encode()
        with suppress(OSError), tempfile.TemporaryDirectory(dir=self._folder) as fresh:
            whole = Path(fresh, key)
            whole.write_bytes(header + b"\n" + binary)
            whole.replace(self._folder / (key + _SUFFIX))
        with suppress(OSError):
            self._prune()

    def _prune(self) -> None:
        """Remove the entries unused for longest until the rest fit."""
        entries = sorted(
            ((path.stat(), path) for path in self._folder.glob(f"*{_SUFFIX}")),
            key=lambda entry: entry[0].st_mtime,
            reverse=True,
        )
        total_bytes = 0
        for status, path in entries:
            total_bytes += status.st_size
            if total_bytes > self._limit_bytes:
                path.unlink(missing_ok=True)
