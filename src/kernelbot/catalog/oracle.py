"""A problem's own solutions: those that must pass, and those that must fail."""

from enum import StrEnum
from pathlib import Path

from kernelbot.catalog.document import MAX_TEXT_BYTES
from kernelbot.protocol import SourceFile, Verdict
from kernelbot.protocol.late import dataclass

_MOST_RIGHT = 8


class Expectation(StrEnum):
    """The folder of `solutions/` that a file lies in."""

    CORRECT = "correct"
    WRONG = "wrong"


@dataclass(frozen=True)
class Solution:
    """A file whose verdict shows whether the problem judges correctly."""

    path: Path
    expected: Expectation

    @property
    def label(self) -> str:
        """How people refer to it: `correct/loop.cpp`."""
        return f"{self.expected}/{self.path.name}"

    def behaved(self, verdict: Verdict) -> bool:
        """Whether `verdict` is as expected. `internal_error` never is: it says nothing about the
        solution."""
        if verdict is Verdict.INTERNAL_ERROR:
            return False
        return (verdict is Verdict.ACCEPTED) == (self.expected is Expectation.CORRECT)


def find_solutions(folder: Path, submission_name: str) -> tuple[Solution, ...]:
    """The files under `solutions/correct` and `solutions/wrong` with the submission's suffix, in
    the order of their names; correct ones first. None if the folders aren't there."""
    suffix = Path(submission_name).suffix
    return tuple(
        Solution(path, expected)
        for expected in Expectation
        for path in sorted((folder / "solutions" / expected).glob(f"*{suffix}"))
        if path.is_file() and not path.name.startswith(".")
    )


def right_solutions(folder: Path, submission_name: str) -> tuple[SourceFile, ...]:
    """The first of `solutions/correct`, which a board judges to know how long a right one takes;
    without those that are no text, too long, or outside the folder by a link."""
    found = list[SourceFile]()
    for solution in find_solutions(folder, submission_name):
        if solution.expected is Expectation.CORRECT and len(found) < _MOST_RIGHT:
            text = _text_of(solution.path, folder)
            if text is not None:
                found.append(SourceFile(solution.label, text))
    return tuple(found)


def _text_of(path: Path, folder: Path) -> str | None:
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        if not inside or path.stat().st_size > MAX_TEXT_BYTES:
            return None
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\x00" in text else text
