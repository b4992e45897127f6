"""A problem's own solutions: those that must pass, and those that must fail."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kernelbot.protocol import Verdict


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
