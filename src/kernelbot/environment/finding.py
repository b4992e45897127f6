"""Finds the problems that a server is started with: folders, trees of folders, repositories."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog import git
from kernelbot.catalog.importing.folders import import_problems
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.catalog.sources import TASK_FILE
from kernelbot.domain.errors import InvalidProblem, UserError
from kernelbot.render.text import encodable

MAX_DEPTH = 6
_GIT = "git+"


@dataclass(frozen=True)
class Found:
    """Problems with their ids, and why others can't be tasks."""

    problems: tuple[tuple[str, LoadedProblem], ...]
    refused: tuple[str, ...]


def find_problems(places: Sequence[str], suite: str | None = None) -> Found:
    """The problems of all places. A place is a problem's folder, a folder with such folders in it,
    or `git+URL`, with `@REF` and `#FOLDER` behind it if wanted. `suite`: the places hold files of
    this suite instead, of which problems are made. Executes nothing. Blocks.

    A problem that is named by itself must be one; of several, those that can't be are listed.
    Raises `InvalidProblem`, `NotFound`, and as `catalog.git.fetch`.
    """
    problems: list[tuple[str, LoadedProblem]] = []
    refused: list[str] = []
    for place in places:
        with tempfile.TemporaryDirectory(prefix="kernelbot-tasks-") as scratch:
            folder = _brought(place, Path(scratch)) if place.startswith(_GIT) else Path(place)
            if suite is not None:
                folder, complaints = _imported(suite, folder, Path(scratch) / "imported")
                refused += complaints
            found = _read(folder)
            problems += found.problems
            refused += found.refused
    return Found(tuple(problems), tuple(refused))


@dataclass(frozen=True)
class _Repository:
    url: str
    ref: str | None
    folder: str


def _repository(place: str) -> _Repository:
    address, _, folder = place.removeprefix(_GIT).partition("#")
    scheme = address.find("://")
    end_of_host = address.find(":") if scheme < 0 else address.find("/", scheme + len("://"))
    begin = max(end_of_host, 0)  # before it a user's name may stand, with an @ of its own
    path, _, ref = address[begin:].partition("@")
    return _Repository(git.repository_url(address[:begin] + path), ref or None, folder)


def _brought(place: str, scratch: Path) -> Path:
    """The folder of a repository, fetched. Raises `UserError` if it leads out of it."""
    wanted = _repository(place)
    git.fetch(wanted.url, wanted.ref, scratch)
    checkout = (scratch / "checkout").resolve()
    folder = (checkout / wanted.folder).resolve()
    if not folder.is_relative_to(checkout):
        raise UserError(f"The folder {wanted.folder!r} isn't in the repository.")
    return folder


def _imported(suite: str, path: Path, into: Path) -> tuple[Path, list[str]]:
    imported = import_problems(suite, path, into)
    if not imported.folders:
        raise InvalidProblem.listing(f"What is imported from {path}", imported.refused)
    return into, [str(finding) for finding in imported.refused]


def _read(root: Path) -> Found:
    if (root / TASK_FILE).is_file() or not root.is_dir():
        loaded = load_problem(root)
        return Found(((loaded.definition.spec.name, loaded),), ())
    problems: list[tuple[str, LoadedProblem]] = []
    refused: list[str] = []
    for folder in _folders(root.resolve()):
        name = folder.relative_to(root.resolve()).as_posix()
        if encodable(name) != name:  # neither an answer nor a record could say its id
            refused.append(f"{encodable(name)}: the folder's name isn't text in UTF-8")
            continue
        try:
            problems.append((name, load_problem(folder)))
        except InvalidProblem as error:
            refused.append(str(error).replace(str(folder), name))
    if not problems and not refused:
        raise InvalidProblem(
            f"There is no problem in {root}.", hint=f"A problem's folder holds {TASK_FILE}."
        )
    return Found(tuple(problems), tuple(refused))


def _folders(root: Path) -> Iterator[Path]:
    """The folders that are problems, in the order of their paths; none within another."""
    for path, folders, names in os.walk(root):
        folder = Path(path)
        if TASK_FILE in names:
            folders.clear()
            yield folder
        is_deep = len(folder.relative_to(root).parts) >= MAX_DEPTH
        folders[:] = [] if is_deep else sorted(n for n in folders if not n.startswith("."))
