"""What a suite's reader makes of one problem, before it is written into a folder."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.sources import Checkout
from kernelbot.protocol import CaseValue

Arguments = Mapping[str, CaseValue]


@dataclass(frozen=True)
class ImportedProblem:
    """The texts of a problem folder. Names are the reader's own, never the suite's."""

    name: str
    statement: str
    """Markdown."""
    skeleton: Traversable
    """The folder of the reader's package whose files judge this suite's problems, each named with
    a further `.txt`."""
    files: Mapping[str, str]
    """What the suite gives, by file name: read by the skeleton's `reference.py`."""
    starter: str
    tests: tuple[Arguments, ...]
    benchmarks: tuple[Arguments, ...]
    solutions: Mapping[str, str] = field(default_factory=dict)
    """Right solutions by file name."""


class SuiteReader(ABC):
    """One suite's format. Made without arguments."""

    @abstractmethod
    def find(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        """The folder that nothing may be read outside of, and the files that may each be a problem,
        in the order of their names. `path` exists."""

    @abstractmethod
    def read(
        self, checkout: Checkout, file: Path, largest: int | None, findings: DefinitionFindings
    ) -> ImportedProblem | None:
        """The problem of one file; None if it isn't one, or if there are findings.

        `largest`: sizes above this become this; None leaves them. Never raises for a bad file.
        """


def files_below(path: Path, pattern: str) -> tuple[Path, ...]:
    """The file itself, or the files of a folder that match; hidden folders are left out."""
    if path.is_file():
        return (path,)
    found = (file for file in path.rglob(pattern) if file.is_file())
    return tuple(sorted(file for file in found if not _is_hidden(file.relative_to(path))))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
