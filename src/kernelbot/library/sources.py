"""What callers give: problems as folders, sources as text, bytes or files."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.domain.errors import InvalidSubmission, UserError
from kernelbot.protocol import (
    Failure,
    Fault,
    JobSpec,
    Mode,
    ProblemSpec,
    RunResult,
    SourceFile,
    Verdict,
)
from kernelbot.server.judge_once import no_result
from kernelbot.submissions.source import check_language, source_text

Problem = str | os.PathLike[str] | LoadedProblem
"""A problem's folder, or what was read from it."""
Source = str | bytes | Path | None
"""A program's text, or the file that holds it. None: there is none, as in a model's answer without
code; it is refused as what no door takes."""


@dataclass
class Problems:
    """Problems by their folders, each read once."""

    _known: dict[Path, LoadedProblem] = field(default_factory=dict)

    def load(self, problem: Problem) -> LoadedProblem:
        """Raises `InvalidProblem`."""
        if isinstance(problem, LoadedProblem):
            return problem
        folder = Path(problem).absolute()
        if folder not in self._known:
            self._known[folder] = load_problem(folder)
        return self._known[folder]


def source_file(source: Source, problem: ProblemSpec) -> SourceFile:
    """The source under the name that the problem gives it. Raises `InvalidSubmission`, and
    `UserError` for what can't be one, which is the calling program's mistake."""
    return SourceFile(problem.submission_name, source_text(_content(source, problem)))


def _content(source: object, problem: ProblemSpec) -> bytes:
    match source:
        case Path():
            check_language(source.name, problem.lang)
            return read_source(source)
        case bytes():
            return source
        case str():
            return _encoded(source)
        case None:
            raise InvalidSubmission("There is no source: None was given.")
    raise UserError(f"A source is a text, bytes or a Path, and not {type(source).__name__!r}.")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidSubmission(
            f"The source isn't Unicode text: character {error.start} can't be written in UTF-8."
        ) from None


def refused(job: JobSpec, error: InvalidSubmission) -> RunResult:
    """The result of a source that no door takes, in a series whose others are judged: nothing can
    be compiled of it, and that is its author's fault."""
    failure = Failure(Fault.AUTHOR, str(error))
    return replace(no_result(job, ""), verdict=Verdict.COMPILE_ERROR, failure=failure)


def mode_of(mode: Mode | str) -> Mode:
    """Raises `UserError` if there is no such mode."""
    try:
        return Mode(mode)
    except ValueError:
        known = ", ".join(Mode)
        raise UserError(f"There is no mode {mode!r}.", hint=f"There is: {known}.") from None


def expect_timed(mode: Mode) -> None:
    """Raises `UserError` if this mode gives no score that a baseline could be compared with."""
    if mode not in (Mode.BENCHMARK, Mode.LEADERBOARD):
        raise UserError(
            f"A baseline is for times, and mode {mode.value!r} has none.",
            hint="Judge with mode='benchmark' or 'leaderboard'.",
        )
