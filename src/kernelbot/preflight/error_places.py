"""At which lines of an author's file something went wrong, by what compilers and Python said."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kernelbot.preflight.diagnostics import SourceText, diagnostics_in
from kernelbot.preflight.model import Severity
from kernelbot.protocol import CaseResult, RunResult, Verdict
from kernelbot.render.failures import failed_alike
from kernelbot.render.text import one_line

MOST = 50
"""Places that are shown of one file."""
_MAX_MESSAGE = 500
_MAX_TEXT = 100_000
"""Characters that are read of all that was said of one file."""
_MOST_TEXTS = 20
"""Outputs and messages that are read of one file: an author can make each case fail in its own
way."""
_FRAME = re.compile(r'^\s*File "([^"\n]{1,300})", line (\d{1,7})')
_NAME = "custom_kernel"
_ENTRY = re.compile(r"^(?!\s*(?:#|//)).{0,200}\b(?:def\s+)?custom_kernel\b\s*[(=:]")


@dataclass(frozen=True)
class ErrorPosition:
    """One error or warning, at a line of the file; both numbers begin at 1. `column` None: it isn't
    known."""

    line: int
    column: int | None
    message: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True)
class _SearchedText:
    """A text in which places are looked for. `refused`: the case that failed with a wrong answer;
    None: it is another text."""

    text: str
    refused: CaseResult | None = None


def error_positions(
    results: Iterable[RunResult | str], code: str, names: frozenset[str]
) -> tuple[ErrorPosition, ...]:
    """The places of all that the results name, in the order of lines, each once. A text is what is
    said of a run without a result. `names`: what the author's file may be called there."""
    lines, source = code.split("\n"), SourceText(code)
    entry = kernel_line(code)
    found: dict[ErrorPosition, None] = {}
    for said in _bounded(one for result in results for one in _searched_texts(result)):
        places = list(_in_text(said.text, source, names))
        if not places and entry is not None and said.refused is not None:
            places = [_at_kernel(entry, said.refused)]
        found |= dict.fromkeys(place for place in places if 0 < place.line <= len(lines))
    return tuple(sorted(found, key=lambda place: (place.line, place.column or 0)))[:MOST]


def kernel_line(code: str) -> int | None:
    """The line on which the kernel is defined; None if it isn't found."""
    for number, line in enumerate(code.split("\n"), 1):
        if _NAME in line and _ENTRY.match(line[:1000]):
            return number
    return None


def _bounded(said: Iterable[_SearchedText]) -> Iterator[_SearchedText]:
    """The first of them, each text once, and the last of these shortened."""
    room, seen = _MAX_TEXT, set[_SearchedText]()
    for one in said:
        if one in seen:
            continue
        if not room or len(seen) == _MOST_TEXTS:
            return
        seen.add(one)
        yield replace(one, text=one.text[:room])
        room -= min(room, len(one.text))


def _searched_texts(result: RunResult | str) -> Iterator[_SearchedText]:
    if isinstance(result, str):
        yield _SearchedText(result)
        return
    if result.compile is not None:
        yield _SearchedText(result.compile.output)
    if result.failure is not None:
        yield _SearchedText(result.failure.message)
    for phase in result.phases:  # the first case of each way of failing
        for first in (one.first for one in failed_alike(phase.cases) if not one.sentence):
            wrong = first.verdict is Verdict.WRONG_ANSWER
            yield _SearchedText(first.message, first if wrong else None)


def _at_kernel(entry: int, case: CaseResult) -> ErrorPosition:
    said = case.message.split("\n", 1)[0]
    return ErrorPosition(entry, None, _short(f"{case.spec}: {said or 'wrong answer'}"))


def _in_text(text: str, source: SourceText, names: frozenset[str]) -> Iterator[ErrorPosition]:
    for name in names:
        for one in diagnostics_in(text, source, name):
            if one.line is not None and _plain(one.file) == name:
                yield ErrorPosition(one.line, one.column, _short(one.message), one.severity)
    yield from _in_tracebacks(text, names)


def _in_tracebacks(text: str, names: frozenset[str]) -> Iterator[ErrorPosition]:
    """The innermost frame of each traceback that is in the author's file."""
    line: int | None = None
    raised_next = False
    for row in text.split("\n"):
        if frame := _FRAME.match(row):
            line = int(frame[2]) if _plain(frame[1]) in names else line
            raised_next = True
        elif raised_next and row[:1] not in ("", " ", "\t"):
            if line is not None and "SyntaxError" not in row and "IndentationError" not in row:
                yield ErrorPosition(line, None, _short(row))
            line, raised_next = None, False


def _plain(file: str) -> str:
    return file.removeprefix("./")


def _short(message: str) -> str:
    return one_line(message)[:_MAX_MESSAGE]
