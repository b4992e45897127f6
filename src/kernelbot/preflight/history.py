"""Reports in the user's cache folder: by content, and of each file the last two versions'."""

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder
from kernelbot.preflight.model import Preflight, PreflightReport
from kernelbot.protocol import VersionMismatch, WireError, from_wire, to_wire

MOST = 500
"""Files that are kept."""
_SUFFIX = ".json"


@dataclass(frozen=True)
class _Last:
    """The version of one file that was shown last for one GPU, and the key of the one before of
    which kernels are known; empty: there is none."""

    source: str = ""
    key: str = ""
    before: str = ""


class History:
    """The reports of one file, by its path. What can't be read or written is as if it weren't
    there."""

    def __init__(self, file: Path, base: Path | None = None) -> None:
        """`base`: where reports are; None: the user's folder for such data. Raises `UserError` if
        the folder can't be used."""
        try:
            self._folder = PrivateFolder.open(base or _default_base(), parents=True)
        except NotOurs as error:
            raise UserError(str(error)) from None
        self._file = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]

    def close(self) -> None:
        """Close the history: it can't be used any more."""
        self._folder.close()

    def cached(self, key: str) -> PreflightReport | None:
        """The report under this key; None if there is none."""
        try:
            return from_wire(
                PreflightReport, json.loads(self._folder.at(key + _SUFFIX).read_bytes())
            )
        except (OSError, ValueError, WireError, VersionMismatch):
            return None

    def keep(self, key: str, report: PreflightReport) -> None:
        """Under the key of all that it was made of."""
        self._write(key, json.dumps(to_wire(report)))

    def with_previous(
        self, key: str, source: str, report: PreflightReport, *, cached: bool
    ) -> Preflight:
        """The report of the file as it is now, beside that of the version before it, which has
        another `source` (its hash) and compiled."""
        name = f"last-{self._file}-{report.gpu}"
        last = self._last(name)
        if last.source != source:
            last = _Last(source, key, last.key if self._has_kernels(last.key) else last.before)
        else:  # the same version, perhaps by another compiler
            last = _Last(source, key, last.before)
        self._write(name, json.dumps(to_wire(last)))
        return Preflight(report, self.cached(last.before) if last.before else None, cached)

    def _has_kernels(self, key: str) -> bool:
        report = self.cached(key) if key else None
        return report is not None and bool(report.kernels)

    def _last(self, name: str) -> "_Last":
        try:
            return from_wire(_Last, json.loads(self._folder.at(name + _SUFFIX).read_bytes()))
        except (OSError, ValueError, WireError, VersionMismatch):
            return _Last()

    def _write(self, name: str, text: str) -> None:
        """A full disk only means that it isn't kept."""
        with contextlib.suppress(OSError):
            self._folder.write(name + _SUFFIX, text.encode())
            self._prune()

    def _prune(self) -> None:
        paths = [self._folder.at(name) for name in self._folder.names()]
        paths.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in paths[MOST:]:
            path.unlink(missing_ok=True)


def _default_base() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("kernelbot") / "preflight"
