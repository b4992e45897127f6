"""Imports one file or a folder of another suite: what can be a problem becomes a problem folder."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.importing.imported import ImportedProblem, SuiteReader
from kernelbot.catalog.importing.suites import SUITES
from kernelbot.catalog.importing.written import competition_file, competition_text, yaml_text
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import TASK_FILE, Checkout
from kernelbot.domain.errors import Finding, InvalidProblem, NotFound, UserError
from kernelbot.render.text import encodable

MAX_FILES = 2000
"""The most files of one import: a suite has some hundred problems."""
_STARTER = "starter.py"
_SUBMISSION = "submission.py"
_SUFFIX = ".txt"


@dataclass(frozen=True)
class Imported:
    folders: tuple[Path, ...]
    """The problem folders written, in the order of their files."""
    refused: tuple[Finding, ...]
    """Why other files are no problem folders."""


def import_problems(
    suite: str,
    path: Path,
    into: Path,
    *,
    largest: int | None = None,
    devices: Sequence[str] = (),
    competition: str | None = None,
) -> Imported:
    """Write a problem folder into `into` for every problem of `path` that can be one.

    `suite`: a name of `SUITES`. `largest`: sizes above this become this, so that a small machine
    can judge them. `devices`: of boards made from the folders. `competition`: name of a competition
    file over the folders, which is written as well. A folder that exists is left alone, and
    reported. Raises NotFound if there is no such suite or no `path`, InvalidProblem if no problem
    is found or a name can't be one, Conflict if the competition's file exists, UserError if `into`
    can't be written.
    """
    reader = _reader(suite)
    if not path.exists():
        raise NotFound(f"There is no file or folder {path}.")
    listing = competition_file(into, competition) if competition else None
    root, candidates = reader.find(path.resolve())
    if len(candidates) > MAX_FILES:
        raise InvalidProblem(
            f"{path} has {len(candidates)} files; at most {MAX_FILES} are imported at once.",
            hint="Import its folders one by one.",
        )
    checkout = Checkout(root, root)
    written: list[Path] = []
    refused: list[Finding] = []
    for file in candidates:
        findings = DefinitionFindings(str(file.relative_to(root)))
        problem = reader.read(checkout, file, largest, findings)
        if problem is not None and not findings.errors:
            folder = _write(problem, into, devices, findings)
            written += [folder] if folder else []
        refused += findings.errors
    if not written and not refused:
        raise InvalidProblem(f"{path} holds no problem of {suite}.")
    if competition and listing and written:
        with _writing(listing):
            listing.write_text(competition_text(competition, written, devices), encoding="utf-8")
    return Imported(tuple(written), tuple(refused))


def _reader(suite: str) -> SuiteReader:
    try:
        return SUITES.load(suite)()
    except KeyError:
        raise NotFound(
            f"No package that is installed reads problems of {suite!r}.",
            hint=f"Installed are: {', '.join(SUITES.names())}.",
        ) from None


def _write(
    problem: ImportedProblem, into: Path, devices: Sequence[str], findings: DefinitionFindings
) -> Path | None:
    """The problem's folder, complete or not there at all; None after a finding."""
    folder = into / problem.name
    if folder.exists():
        findings.error("", None, f"{folder} already exists; move it away, or use another --into")
        return None
    try:
        with _writing(folder):
            into.mkdir(parents=True, exist_ok=True)
            _complete(problem, folder, devices)
        return folder
    except InvalidProblem as error:
        findings.errors += [_placed(finding, findings.file) for finding in error.findings]
        return None


def _complete(problem: ImportedProblem, folder: Path, devices: Sequence[str]) -> None:
    """Make the folder, unless it couldn't be judged. Raises InvalidProblem, OSError."""
    with tempfile.TemporaryDirectory(prefix=".importing-", dir=folder.parent) as made:
        draft = Path(made) / problem.name
        _write_files(draft, problem, devices)
        load_problem(draft, root=draft)
        os.rename(draft, folder)  # noqa: PTH104 (never onto a folder with something in it)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What can't be written is the person's to correct; a full disk names no file."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{error.filename or path} can't be written: {error.strerror}.") from None


def _placed(finding: Finding, file: str) -> Finding:
    """What is wrong with the folder, at the suite's file that it was made of."""
    where = f"{finding.file} {finding.key}".strip()
    return Finding(file, "", None, f"can't be judged: {where}: {finding.message}")


def _write_files(folder: Path, problem: ImportedProblem, devices: Sequence[str]) -> None:
    ours = {
        source.name.removesuffix(_SUFFIX): source.read_text(encoding="utf-8")
        for source in sorted(problem.skeleton.iterdir(), key=lambda source: source.name)
    }
    judged = {**ours, **problem.files}
    solutions = {f"solutions/correct/{name}": text for name, text in problem.solutions.items()}
    task = _task(problem, judged, devices)
    texts = {**judged, **solutions, _STARTER: problem.starter, TASK_FILE: task}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _task(problem: ImportedProblem, judged: Iterable[str], devices: Sequence[str]) -> str:
    names = [{"name": name, "source": name} for name in judged]
    task: dict[str, Any] = {
        "description": _clean(problem.statement),
        "files": [{"name": _SUBMISSION, "source": "@SUBMISSION@"}, *names],
        "lang": "py",
        "tests": [dict(case) for case in problem.tests],
        "benchmarks": [dict(case) for case in problem.benchmarks],
        "ranking_by": "geom",
        "templates": {"Python": _STARTER},
    }
    if devices:
        task["gpus"] = list(devices)
    return yaml_text(task)


def _clean(text: str) -> str:
    """The text in a form in which a statement can be stored: escapes in a suite's text may have
    made NUL and halves of characters of it. Without blanks at the ends of lines, so that YAML shows
    it as a block."""
    whole = encodable(text.replace("\0", "?"))
    return "\n".join(line.rstrip() for line in whole.splitlines())
