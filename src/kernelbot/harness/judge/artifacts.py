"""Files for the author to download, within bounds; what had to go is said."""

import base64

from kernelbot.protocol import Artifact
from kernelbot.protocol.result_size import MAX_FILE_BYTES, MAX_FILES_BYTES, MAX_REPORT_BYTES, REPORT


class ArtifactCollection:
    """The files of one run, in the order in which they came. A later one of a name replaces."""

    def __init__(self) -> None:
        self._contents: dict[str, tuple[str, bytes]] = {}
        self._left_out: dict[str, str] = {}

    def add(self, name: str, media_type: str, content: bytes) -> None:
        """Keep a file. A text that is too long is cut; half of anything else is of no use."""
        self._contents.pop(name, None)
        self._left_out.pop(name, None)
        if media_type == REPORT and len(content) > MAX_REPORT_BYTES:
            self._left_out[name] = f"{name} is cut after {MAX_REPORT_BYTES >> 10} KiB."
            content = content[:MAX_REPORT_BYTES].decode(errors="ignore").encode()
        if media_type != REPORT and len(content) > MAX_FILE_BYTES:
            self._leave_out(name, content, f"a file may have {_mebibytes(MAX_FILE_BYTES)}")
        elif media_type != REPORT and self._size() + len(content) > MAX_FILES_BYTES:
            together = f"all files together may have {_mebibytes(MAX_FILES_BYTES)}"
            self._leave_out(name, content, together)
        else:
            self._contents[name] = (media_type, content)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each file that was cut or left out."""
        return tuple(self._left_out.values())

    def all(self) -> tuple[Artifact, ...]:
        """All of them, in the form in which they travel."""
        return tuple(
            Artifact(name, media_type, base64.b64encode(content).decode("ascii"))
            for name, (media_type, content) in self._contents.items()
        )

    def _size(self) -> int:
        return sum(len(content) for kind, content in self._contents.values() if kind != REPORT)

    def _leave_out(self, name: str, content: bytes, rule: str) -> None:
        self._left_out[name] = f"{name} is left out: it has {_mebibytes(len(content))}, {rule}."


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
