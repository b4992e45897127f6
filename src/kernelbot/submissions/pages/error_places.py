"""At which lines of an author's file something went wrong, by what compilers and Python said."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernelbot.preflight.diagnostics import read_diagnostics
from kernelbot.preflight.model import Severity
from kernelbot.protocol import RunResult, Verdict
from kernelbot.render.failures import failed_alike
from kernelbot.render.text import one_line
from kernelbot.runs.model import Run

MOST = 50
"""Places that are shown of one file."""
_MAX_MESSAGE = 500
_MAX_TEXT = 100_000
"""Characters of one output that are read."""
_FRAME = re.compile(r'^\s*File "([^"\n]{1,300})", line (\d{1,7})')
_ENTRY = re.compile(r"^(?!\s*(?:#|//)).{0,200}\b(?:def\s+)?custom_kernel\b\s*[(=:]")


@dataclass(frozen=True)
class ErrorPlace:
    """One error or warning, at a line of the file; both numbers begin at 1. `column` None: it isn't
    known."""

    line: int
    column: int | None
    message: str
    severity: Severity = Severity.ERROR


def error_places(runs: Iterable[Run], code: str, names: frozenset[str]) -> tuple[ErrorPlace, ...]:
    """The places of all that the runs' results name, in the order of lines, each once. `names`:
    what the author's file may be called there."""
    lines = code.split("\n")
    found = dict.fromkeys(
        place for run in runs for place in _of_run(run, code, names) if 0 < place.line <= len(lines)
    )
    return tuple(sorted(found, key=lambda place: (place.line, place.column or 0)))[:MOST]


def _of_run(run: Run, code: str, names: frozenset[str]) -> Iterator[ErrorPlace]:
    result = run.result
    if result is None:
        yield from _in_text(run.message or "", code, names)
        return
    if result.compile is not None:
        yield from _in_text(result.compile.output, code, names)
    if result.failure is not None:
        yield from _in_text(result.failure.message, code, names)
    yield from _of_cases(result, code, names)


def _of_cases(result: RunResult, code: str, names: frozenset[str]) -> Iterator[ErrorPlace]:
    """Where the first case of each way of failing failed; a wrong answer is at the kernel."""
    for phase in result.phases:
        for alike in failed_alike(phase.cases):
            message = alike.first.message
            places = list(_in_text(message, code, names))
            yield from places
            entry = _entry(code)
            if not places and entry is not None and alike.first.verdict is Verdict.WRONG_ANSWER:
                said = message.split("\n", 1)[0]
                yield ErrorPlace(
                    entry, None, _short(f"{alike.first.spec}: {said or 'wrong answer'}")
                )


def _in_text(text: str, code: str, names: frozenset[str]) -> Iterator[ErrorPlace]:
    text = text[:_MAX_TEXT]
    for name in names:
        for one in read_diagnostics(text, code, name):
            if one.line is not None and _plain(one.file) == name:
                yield ErrorPlace(one.line, one.column, _short(one.message), one.severity)
    yield from _in_tracebacks(text, names)


def _in_tracebacks(text: str, names: frozenset[str]) -> Iterator[ErrorPlace]:
    """The innermost frame of each traceback that is in the author's file."""
    line: int | None = None
    raised_next = False
    for row in text.split("\n"):
        if frame := _FRAME.match(row):
            line = int(frame[2]) if _plain(frame[1]) in names else line
            raised_next = True
        elif raised_next and row[:1] not in ("", " ", "\t"):
            if line is not None and "SyntaxError" not in row and "IndentationError" not in row:
                yield ErrorPlace(line, None, _short(row))
            line, raised_next = None, False


def _plain(file: str) -> str:
    return file.removeprefix("./")


def _entry(code: str) -> int | None:
    """The line on which the kernel is defined; None if it isn't found."""
    for number, line in enumerate(code.split("\n"), 1):
        if _ENTRY.match(line[:1000]):
            return number
    return None


def _short(message: str) -> str:
    return one_line(message)[:_MAX_MESSAGE]
