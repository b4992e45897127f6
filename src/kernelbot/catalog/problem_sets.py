"""Finds the competition files of a folder tree and reads them with all their problems."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.boards.model import ProblemDefinition
from kernelbot.catalog.competition import Competition, CompetitionProblem, load_competition
from kernelbot.catalog.document import MAX_TEXT_BYTES
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import TASK_FILE
from kernelbot.domain.errors import Finding, InvalidProblem

MAX_DEPTH = 6
MAX_BYTES = 256 << 20
"""Most bytes of all problems' texts together: one file may be a source of any number of them."""
_LEAST_BYTES = 64 << 10
"""What a problem counts for at least, since reading it takes time."""
_IS_COMPETITION = re.compile(rb"^(problems|deadline)[ \t]*:", re.MULTILINE)
"""A file with a deadline alone is one whose list was forgotten or misspelt: reading it says so."""


@dataclass(frozen=True)
class SetEntry:
    """A board that a competition file asks for. Exactly one of `definition` and `error` is None."""

    listed: CompetitionProblem
    definition: ProblemDefinition | None
    error: str | None
    warnings: tuple[str, ...] = ()
    """What is passed over in the problem's task.yml, with the place."""


@dataclass(frozen=True)
class ProblemSet:
    """A competition file with what it lists; if it can't be read, `error` says why."""

    file: str
    competition: Competition | None
    entries: tuple[SetEntry, ...]
    error: str | None
    warnings: tuple[str, ...] = ()
    """What is passed over in this file, and in the task.yml of its problems, with the places."""


def read_sets(root: Path, *, only: str | None = None) -> tuple[ProblemSet, ...]:
    """Every competition under `root`, in the order of their paths. Blocks; executes nothing.

    `only`: the one file of this stem. Raises `InvalidProblem` if there is none.
    """
    root = root.resolve()
    files = [path for path in _competition_files(root) if only is None or path.stem == only]
    if not files:
        named = f" named {only!r}" if only is not None else ""
        raise InvalidProblem(
            f"There is no competition file{named}: no *.yaml file with a list of `problems`.",
            hint="Write one beside the problems' folders; see docs/reference/problem-format.md.",
        )
    room = _Room(MAX_BYTES)
    return tuple(_read(path, root, room) for path in files)


@dataclass
class _Room:
    """How many bytes of problems may still be read."""

    left: int

    def take(self, definition: ProblemDefinition) -> None:
        texts = [file.text for file in (*definition.spec.files, *definition.solutions)]
        texts += [definition.description, *definition.templates.values()]
        self.left -= max(sum(map(len, texts)), _LEAST_BYTES)


def _competition_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and depth < MAX_DEPTH)
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix in (".yaml", ".yml") and name != TASK_FILE and _is_one(path, root):
                yield path


def _is_one(path: Path, root: Path) -> bool:
    try:
        inside = path.resolve().is_relative_to(root) and path.is_file()
        if not inside or path.stat().st_size > MAX_TEXT_BYTES:
            return False
        return _IS_COMPETITION.search(path.read_bytes()) is not None
    except OSError:
        return False


def _read(path: Path, root: Path, room: _Room) -> ProblemSet:
    file = str(path.relative_to(root))
    try:
        competition = load_competition(path, root=root)
    except InvalidProblem as error:
        return ProblemSet(file, None, (), _within(root, error))
    entries = tuple(_entry(listed, root, room) for listed in competition.problems)
    own = _places(competition.warnings, path.parent, root)
    warnings = dict.fromkeys([*own, *(one for entry in entries for one in entry.warnings)])
    return ProblemSet(file, competition, entries, None, tuple(warnings))


def _places(warnings: Sequence[Finding], folder: Path, root: Path) -> tuple[str, ...]:
    """The warnings as sentences, each with its file's path below `root`."""
    below = folder.relative_to(root)
    return tuple(str(replace(one, file=(below / one.file).as_posix())) for one in warnings)


def _within(root: Path, error: InvalidProblem) -> str:
    """The error without the path and the name of the folder that all is in: it may be a temporary
    one of ours, which means nothing to the reader."""
    return str(error).replace(f"{root}/", "").replace(f" ({root.name})", "")


def _entry(listed: CompetitionProblem, root: Path, room: _Room) -> SetEntry:
    if room.left <= 0:
        error = f"the problems before it hold more than {MAX_BYTES >> 20} MiB, the most of one sync"
        return SetEntry(listed, None, error)
    try:
        loaded = load_problem(listed.folder, root=root)
    except InvalidProblem as error:
        return SetEntry(listed, None, _within(root, error))
    definition = loaded.definition
    room.take(definition)
    if listed.devices:
        definition = replace(definition, devices=listed.devices)
    return SetEntry(listed, definition, None, _places(loaded.warnings, listed.folder, root))
