"""The migrations of this release, and how a database's own ones compare with them."""

import enum
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import LiteralString

from kernelbot.domain.errors import SchemaOutdated
from kernelbot.domain.next_steps import Next

_FOLDER = Path(__file__).parent / "migrations"


@dataclass(frozen=True)
class Migration:
    """One file of `migrations/`: its name without the ending, and its statements."""

    name: str
    text: LiteralString

    @cached_property
    def sha256(self) -> str:
        """The hash of the statements alone: a comment may be reworded when it has been applied."""
        lines = self.text.splitlines()
        words = " ".join(line for line in lines if not line.lstrip().startswith("--")).split()
        return hashlib.sha256(" ".join(words).encode()).hexdigest()

    @property
    def contracts(self) -> bool:
        """Whether servers of the release before no longer work once it has been applied."""
        return _contracts(self.name)


def _contracts(name: str) -> bool:
    """By the name alone, since a release reads those of newer ones: `NUMBER.name.after`."""
    return name.endswith(".after")


def known_migrations() -> tuple[Migration, ...]:
    """This release's migrations, in order: the files of `migrations/` by their numbers."""
    return _read(_FOLDER)


def completing_migrations() -> tuple[Migration, ...]:
    """For migrations that were added to after they had been applied: what makes them whole."""
    return _read(_FOLDER / "completed")


def _read(folder: Path) -> tuple[Migration, ...]:
    files = sorted(folder.glob("*.sql"))
    return tuple(Migration(file.stem, file.read_text(encoding="utf-8")) for file in files)


@dataclass(frozen=True)
class Applied:
    """A migration that a database says it has. `sha256` None: it doesn't say with which content,
    since releases until 0.1.0 kept names alone."""

    name: str
    sha256: str | None


class Age(enum.Enum):
    """What a database is to this release."""

    CURRENT = enum.auto()
    """This release works with it. Migrations that contract may be missing."""
    AHEAD = enum.auto()
    """The same, and a newer release has added to it."""
    OLDER = enum.auto()
    NEWER = enum.auto()
    """A newer release has taken away what this one needs."""
    OTHER_LINE = enum.auto()


def age(applied: Sequence[Applied], known: Sequence[Migration]) -> Age:
    """Compare what was applied with what is known, in order, those that contract apart from the
    others: a name or a content that differs makes another line, and one has gone further than the
    other or neither has."""
    if any(not _same(one, other) for one, other in _pairs(applied, known)):
        return Age.OTHER_LINE
    contracted = sum(_contracts(one.name) for one in applied)
    known_contracted = sum(other.contracts for other in known)
    if contracted > known_contracted:
        return Age.NEWER
    expanded, known_expanded = len(applied) - contracted, len(known) - known_contracted
    if expanded == known_expanded:
        return Age.CURRENT
    return Age.OLDER if expanded < known_expanded else Age.AHEAD


def _pairs(
    applied: Sequence[Applied], known: Sequence[Migration]
) -> Iterator[tuple[Applied, Migration]]:
    for contracts in (False, True):
        has = [one for one in applied if _contracts(one.name) == contracts]
        wants = [other for other in known if other.contracts == contracts]
        yield from zip(has, wants, strict=False)


def _same(one: Applied, other: Migration) -> bool:
    return one.name == other.name and one.sha256 in (None, other.sha256)


def newer() -> SchemaOutdated:
    """The database has gone further than this release."""
    return SchemaOutdated(
        "The database's schema is of a newer release than this one.",
        hint="Update this installation. Nothing was changed.",
    )


def older() -> SchemaOutdated:
    """The error for a database that is older than this release."""
    return SchemaOutdated(
        "The database's schema is older than this release.", next_step=Next.MIGRATE_DATABASE
    )


def other_line(applied: Sequence[Applied], known: Sequence[Migration]) -> SchemaOutdated:
    """The database and this release have gone different ways."""
    pairs = _pairs(applied, known)
    differing = next((one.name for one, other in pairs if not _same(one, other)), None)
    which = f"its migration {differing} isn't ours" if differing else "its tables aren't ours"
    return SchemaOutdated(
        f"The database is of another line of KernelBot than this release: {which}.",
        hint="Use the installation that made it, or begin with another data folder or "
        "database. Nothing was changed.",
    )
