"""Tries changes in copies of the tree: nothing is changed where one works."""

import contextlib
import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.mutants import loaded
from scripts.mutants.operators import Mutant

_FAILED_TESTS = 1
"""pytest's exit code."""
_FIRST_FILES = 4


class Outcome(StrEnum):
    """What came of a change."""

    KILLED = "killed"
    """A test failed that passes without it."""
    TIMEOUT = "timeout"
    """The tests didn't end in time, and do without it: noticed as well."""
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    """It is listed as one that nobody could tell, and wasn't tried."""
    UNCLEAR = "unclear"
    """The test that failed fails without it, too; or there was too little time for the tests."""


@dataclass(frozen=True)
class Trial:
    """One change, and what the tests said."""

    mutant: Mutant
    outcome: Outcome
    test: str = ""
    """The first that failed; empty if none did or none had the time to."""
    reason: str = ""
    """Why nobody could tell, of a listed one; the end of pytest's words, if it said neither."""


class Copies:
    """Copies of the tree that are lent, one to each trial that runs."""

    def __init__(self, tree: Path, folder: Path, number: int) -> None:
        self._free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        files = _files(tree)
        for index in range(number):
            copy = folder / f"tree-{index}"
            for file in files:
                target = copy / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / file, target, follow_symlinks=False)
            self._free.put(copy)
        self._fails: dict[str, bool] = {}

    @contextlib.contextmanager
    def lent(self) -> Iterator[Path]:
        """A copy for the caller alone, who leaves it as it was."""
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)

    def fails_unchanged(self, copy: Path, test: str, limit_s: float) -> bool:
        """Whether a test doesn't pass in a copy without a change; asked once of each."""
        if test not in self._fails:
            # Without its parameters, which may be what was changed: then there is no such test.
            answer = run_tests(copy, (test.partition("[")[0],), limit_s)
            others = answer.code == _FAILED_TESTS and test not in answer.failed
            self._fails[test] = answer.code != 0 and not others
        return self._fails[test]


def _files(tree: Path) -> list[str]:
    """What git follows, and what it would: neither what was built nor what is private."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(command, cwd=tree, check=True, capture_output=True)
    names = answer.stdout.decode().split("\0")
    return [name for name in names if name and os.path.lexists(tree / name)]


@contextlib.contextmanager
def changed(copy: Path, mutant: Mutant) -> Iterator[None]:
    """The copy with the change, until the block ends."""
    file = copy / mutant.module
    source = file.read_bytes()
    _write(file, mutant.applied(source))
    try:
        yield
    finally:
        _write(file, source)


def _write(file: Path, source: bytes) -> None:
    """Python takes what it compiled for current if time (in seconds) and size are the same."""
    file.write_bytes(source)
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


@dataclass(frozen=True)
class Answer:
    """What pytest said."""

    code: int | None
    """Its exit code; None if it had to be ended."""
    failed: tuple[str, ...]
    words: str


def run_tests(copy: Path, tests: tuple[str, ...], limit_s: float, *options: str) -> Answer:
    """Run the tests in the copy. What they started is ended with them."""
    with TemporaryDirectory(prefix="mutants-") as folder:
        arguments = [
            "-q",
            "--tb=line",
            "--assert=plain",
            "-m",
            loaded.MARKS,
            "-o",
            f"cache_dir={folder}",
        ]
        words = Path(folder, "words")
        run = loaded.start([*arguments, *options, *tests], copy, _environment(copy), words)
        code = run.code(limit_s)
        return Answer(code, _failed(Path(folder)), words.read_text(errors="replace"))


def _environment(copy: Path) -> dict[str, str]:
    """The copy's modules come before those that are installed, in every process of the tests."""
    programs = Path(sys.executable).parent
    return os.environ | {
        "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(copy / ".hypothesis"),
    }


def _failed(folder: Path) -> tuple[str, ...]:
    file = folder / "v/cache/lastfailed"
    return tuple(json.loads(file.read_text())) if file.exists() else ()


def attempt(copies: Copies, mutant: Mutant, tests: tuple[str, ...], limit_s: float) -> Trial:
    """Try one change. Raises `RuntimeError` if there is no test of the module."""
    if not tests:
        raise RuntimeError(f"scope.toml names no test of {mutant.module}.")
    with copies.lent() as copy:
        for part in _few_files_first(tests):
            with changed(copy, mutant):
                answer = run_tests(copy, part, limit_s, "--exitfirst")
            if answer.code is None:
                unchanged = run_tests(copy, part, limit_s, "--exitfirst")
                return Trial(mutant, Outcome.UNCLEAR if unchanged.code is None else Outcome.TIMEOUT)
            if answer.code:
                test = next(iter(answer.failed), "")
                fails = bool(test) and copies.fails_unchanged(copy, test, limit_s)
                outcome = Outcome.UNCLEAR if fails else Outcome.KILLED
                return Trial(mutant, outcome, test, answer.words[-400:])
    return Trial(mutant, Outcome.SURVIVED)


def _few_files_first(tests: tuple[str, ...]) -> list[tuple[str, ...]]:
    """To load many files of tests takes longer than those that notice most changes."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
    first = tuple(name for name in tests if name.partition("::")[0] in files[:_FIRST_FILES])
    others = tuple(name for name in tests if name not in first)
    return [part for part in (first, others) if part]
