"""The changes that are known to change nothing that a test could see (`equivalents.toml`)."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from scripts.mutants.operators import Mutant

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True)
class Equivalent:
    """A change, named by what stands there, so that it is found again when lines move."""

    module: str
    function: str
    before: str
    after: str
    reason: str
    """Why nobody can tell."""

    def is_(self, mutant: Mutant) -> bool:
        """Whether the change is this one."""
        here = (self.module, self.function, self.before, self.after)
        return here == (mutant.module, mutant.function, mutant.before, mutant.after)


def equivalents(file: Path = EQUIVALENTS) -> list[Equivalent]:
    """Those that are listed. Raises `TypeError` for an entry that lacks a word."""
    entries = tomllib.loads(file.read_text()).get("equivalent", [])
    return [Equivalent(**entry) for entry in entries]


def reason_of(mutant: Mutant, known: list[Equivalent]) -> str | None:
    """Why nobody could tell the change; None if it isn't listed."""
    return next((each.reason for each in known if each.is_(mutant)), None)
