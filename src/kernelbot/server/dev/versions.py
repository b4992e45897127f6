"""Every version of a file that was judged, and how that ended, in a folder of this user's.

A version's content is in a file named by its SHA-256, so that the same text is kept once. The log
has a line for each time that one was judged; it only ever grows.
"""

import hashlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kernelbot.domain.errors import InvalidSubmission, NotFound, UserError
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder
from kernelbot.protocol import Verdict
from kernelbot.runs.files import safe_name
from kernelbot.server.dev.files import read_now, write_whole
from kernelbot.submissions.source import MAX_SOURCE_BYTES

_LOG = "log.jsonl"
_LEAST_HASH = 4


@dataclass(frozen=True)
class LogEntry:
    """One line of the log. `verdict` None: it was kept without being judged to the end."""

    number: int
    at: str
    """In UTC, ISO 8601."""
    sha256: str
    verdict: Verdict | None = None
    score_s: float | None = None
    note: str = ""


_ENTRY = TypeAdapter(LogEntry)


class Versions:
    """The history of one file, by its path."""

    def __init__(self, file: Path, base: Path | None = None) -> None:
        """`base`: where histories are; None: the user's folder for such data. Raises `UserError`
        if the folder can't be used."""
        self.file = file
        path = (base or _default_base()) / _folder_name(file)
        try:
            self._folder = PrivateFolder.open(path, parents=True)
        except NotOurs as error:
            raise UserError(str(error)) from None

    def close(self) -> None:
        """Close the log: it can't be used any more."""
        self._folder.close()

    def keep(self, content: bytes) -> str:
        """Keep a content; its name, which is its SHA-256."""
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._folder.at(sha256).exists():
            self._folder.write(sha256, content)
        return sha256

    def add(
        self,
        sha256: str,
        verdict: Verdict | None = None,
        score_s: float | None = None,
        note: str = "",
    ) -> LogEntry:
        """Write a line, under the next number."""
        with self._folder.locked():
            number = max((entry.number for entry in self.entries()), default=0) + 1
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = LogEntry(number, now, sha256, verdict, score_s, note)
            with self._folder.at(_LOG).open("ab") as log:
                log.write(b"\n" * self._lacks_end() + _ENTRY.dump_json(entry) + b"\n")
        return entry

    def entries(self) -> list[LogEntry]:
        """The log, the oldest first. A line that was never written to its end is left out."""
        try:
            lines = self._folder.at(_LOG).read_bytes().splitlines()
        except FileNotFoundError:
            return []
        return [entry for entry in map(_read_line, lines) if entry is not None]

    def find(self, name: str) -> LogEntry:
        """A version by its number, or the latest by the beginning of its hash. Raises
        `NotFound`."""
        for entry in reversed(self.entries()):
            named = len(name) >= _LEAST_HASH and entry.sha256.startswith(name.lower())
            if name == str(entry.number) or named:
                return entry
        raise NotFound(
            f"There is no version {name} of {self.file}.", hint="`kernelbot dev log` lists them."
        )

    def content(self, entry: LogEntry) -> bytes:
        """A version's bytes. Raises `NotFound` if somebody has removed them."""
        try:
            return self._folder.at(entry.sha256).read_bytes()
        except OSError:
            raise NotFound(f"The text of version {entry.number} isn't there any more.") from None

    def restore(self, entry: LogEntry) -> LogEntry | None:
        """Write a version into the file, whose present content is kept as a version first; None if
        there is no file now. Raises `InvalidSubmission` if the file can't be written, or is
        something else than a file or larger than what is kept, and `NotFound`."""
        content = self.content(entry)
        kept = None
        if self.file.exists():
            note = f"what was there before version {entry.number} was restored"
            kept = self.add(self.keep(_all_of(self.file)), note=note)
        write_whole(self.file, content)
        return kept

    def _lacks_end(self) -> bool:
        """Whether the last line was never written to its end, say because the disk was full."""
        try:
            return self._folder.at(_LOG).read_bytes()[-1:] not in (b"", b"\n")
        except FileNotFoundError:
            return False


def _all_of(file: Path) -> bytes:
    content = read_now(file)
    if len(content) > MAX_SOURCE_BYTES:
        raise InvalidSubmission(
            f"{file} is too large to be kept, so it isn't replaced.", hint="Move it away first."
        )
    return content


def _read_line(line: bytes) -> LogEntry | None:
    try:
        return _ENTRY.validate_json(line)
    except ValidationError:
        return None


def _default_base() -> Path:
    import platformdirs

    return platformdirs.user_state_path("kernelbot") / "dev"


def _folder_name(file: Path) -> str:
    """Readable, and different for each path."""
    path = os.fsencode(os.path.realpath(file))  # of a loop of links, too
    return f"{safe_name(file.name)}-{hashlib.sha256(path).hexdigest()[:16]}"
