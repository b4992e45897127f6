"""Reads the files that a problem names: text only, inside the checkout only, within a size limit.
And the files that authors submit, from any path."""

from pathlib import Path
from typing import TYPE_CHECKING

from kernelbot.domain.errors import InvalidSubmission
from kernelbot.protocol.late import dataclass
from kernelbot.protocol.os_errors import in_words
from kernelbot.submissions.source import MAX_SOURCE_BYTES

if TYPE_CHECKING:  # it loads YAML, and who only submits a file reads none
    from kernelbot.catalog.fields import DefinitionFindings

TASK_FILE = "task.yml"
"""A folder with this file is a problem."""
MAX_FILE_BYTES = 1 << 20


@dataclass(frozen=True)
class Checkout:
    """What a problem may read: its own folder, and everything below `root`."""

    folder: Path
    root: Path

    @classmethod
    def around(cls, folder: Path, root: Path | None) -> "Checkout":
        """`root` if it is given; else the git checkout that holds `folder`; else the nearest
        folder above that has a competition file beside it; else the folder itself."""
        folder = folder.resolve()
        return cls(folder, root.resolve() if root else _find_root(folder))

    def inside(
        self, source: str, key: str, line: int | None, findings: "DefinitionFindings"
    ) -> Path | None:
        """Where `source` leads from the folder, or None after a finding if that is outside."""
        try:
            path = (self.folder / source).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            findings.error(key, line, f"`{source}` can't be followed: {in_words(error)}")
            return None
        if not path.is_relative_to(self.root):
            findings.error(key, line, f"`{source}` leaves the checkout ({self.root.name})")
            return None
        return path

    def read(
        self, source: str, key: str, line: int | None, findings: "DefinitionFindings"
    ) -> str | None:
        """The text of the file `source` names relative to the folder, or None after a finding."""
        path = self.inside(source, key, line, findings)
        if path is None:
            return None
        try:
            if not path.is_file():
                trouble = f"no such file: `{source}`"
            elif path.stat().st_size > MAX_FILE_BYTES:
                trouble = f"`{source}` is larger than {MAX_FILE_BYTES >> 20} MiB"
            else:
                return _text(path.read_bytes(), source, key, line, findings)
        except OSError as error:
            trouble = f"`{source}` can't be read: {error.strerror}"
        findings.error(key, line, trouble)
        return None


def read_source(path: Path) -> bytes:
    """An author's file as it is; of one that is too large, only one byte more than the limit.

    Raises `InvalidSubmission` if it can't be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise InvalidSubmission(f"{path} can't be read: {error.strerror}.") from None
    except ValueError as error:  # its name holds a NUL
        raise InvalidSubmission(f"{str(path)!r} can't be read: {error}.") from None


def _text(
    raw: bytes, source: str, key: str, line: int | None, findings: "DefinitionFindings"
) -> str | None:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        findings.error(key, line, f"`{source}` isn't a text file in UTF-8")
        return None
    return text


def _find_root(folder: Path) -> Path:
    above = (folder, *folder.parents)
    git = next((path for path in above if (path / ".git").exists()), None)
    if git is not None:
        return git
    return next((path for path in above[1:4] if any(path.glob("*.yaml"))), folder)
