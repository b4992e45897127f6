"""All that is wrong with a file, each at a place in it, as editors read it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernelbot.preflight.error_places import MOST, error_positions, kernel_line
from kernelbot.preflight.model import Diagnostic, Preflight, Severity
from kernelbot.protocol import Fault, RunResult
from kernelbot.render.text import one_line

_MAX_MESSAGE = 500


def file_diagnostics(
    result: RunResult | None,
    preflights: Sequence[Preflight],
    code: str,
    *,
    judged_as: str,
    file: str,
) -> tuple[Diagnostic, ...]:
    """What a judging and compilers for other GPUs said of a file, in the order of lines, each
    once. `judged_as`: the name that the file had there; `file`: the one that is shown.

    A file that isn't accepted by its author's fault has an error at least: if nobody named a
    place, at the line that defines the kernel, else at the first.
    """
    said = (*_judged(result, code, judged_as), *_compiled(preflights, judged_as))
    found = dict.fromkeys(replace(one, file=file) for one in said)
    return tuple(sorted(found, key=lambda one: (one.line or 0, one.column or 0)))[:MOST]


def _judged(result: RunResult | None, code: str, name: str) -> Iterator[Diagnostic]:
    if result is None:
        return
    is_refused = False
    for place in error_positions([result], code, frozenset({name})):
        is_refused |= place.severity is Severity.ERROR
        yield Diagnostic(place.severity, place.message, name, place.line, place.column)
    failure = result.failure
    if failure is not None and failure.fault is Fault.AUTHOR and not is_refused:
        last_line = one_line(failure.message.strip().split("\n")[-1])
        message = f"{result.verdict.words}: {last_line}" if last_line else result.verdict.words
        line = kernel_line(code) or 1
        yield Diagnostic(Severity.ERROR, message[:_MAX_MESSAGE], name, line)


def _compiled(preflights: Sequence[Preflight], name: str) -> Iterator[Diagnostic]:
    """The first GPU for which something was said is named."""
    said = set[tuple[int | None, int | None, str]]()
    for report in (one.report for one in preflights):
        for one in report.diagnostics:
            key = (one.line, one.column, one.message)
            if one.line is None or one.file.removeprefix("./") != name or key in said:
                continue
            said.add(key)
            yield replace(one, message=one_line(f"{report.gpu}: {one.message}")[:_MAX_MESSAGE])
