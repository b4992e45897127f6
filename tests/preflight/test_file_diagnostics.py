"""What editors are told of a file."""

from dataclasses import replace

from kernelbot.preflight.file_diagnostics import file_diagnostics
from kernelbot.preflight.model import (
    Diagnostic,
    Preflight,
    PreflightOutcome,
    PreflightReport,
    Severity,
)
from kernelbot.protocol import CompileReport, Failure, Fault, RunResult, Verdict
from tests.render.results import ACCEPTED, WRONG

CODE = "import numpy as np\n\ndef custom_kernel(data):\n    return data[9]\n"


def found(
    result: RunResult | None, preflights: tuple[Preflight, ...] = (), code: str = CODE
) -> list[Diagnostic]:
    return list(
        file_diagnostics(result, preflights, code, judged_as="submission.py", file="a/mine.py")
    )


def failed(message: str, verdict: Verdict = Verdict.RUNTIME_ERROR) -> RunResult:
    failure = Failure(Fault.AUTHOR, message)
    return replace(WRONG, verdict=verdict, phases=(), compile=None, failure=failure)


def test_a_place_is_shown_in_the_file_that_was_given() -> None:
    message = 'Traceback:\n  File "submission.py", line 4, in custom_kernel\n    x\nIndexError: 9'
    assert [Diagnostic(Severity.ERROR, "IndexError: 9", "a/mine.py", 4)] == found(failed(message))


def test_what_names_no_place_is_at_the_kernel() -> None:
    slow = failed("It took longer than 3 s.", Verdict.TIME_LIMIT)
    expected = f"{Verdict.TIME_LIMIT.words}: It took longer than 3 s."
    assert [(3, expected)] == [(one.line, one.message) for one in found(slow)]
    assert [(1, expected)] == [(one.line, one.message) for one in found(slow, code="x = 1\n")]


def test_a_warning_alone_doesn_t_stand_for_a_refusal() -> None:
    warned = replace(
        failed("It crashed."),
        compile=CompileReport("g++", "submission.py:2:1: warning: unused\n", 0.1, cached=False),
    )
    assert [(2, Severity.WARNING), (3, Severity.ERROR)] == [
        (one.line, one.severity) for one in found(warned)
    ]


def test_what_is_not_the_author_s_fault_is_none_of_the_file_s() -> None:
    ours = replace(failed(""), failure=Failure(Fault.PLATFORM, "The disk is full."))
    assert [] == found(ours) + found(ACCEPTED) + found(None)


def test_what_several_gpus_refuse_is_said_once() -> None:
    places = (
        Diagnostic(Severity.ERROR, "no such name", "./submission.py", 4, 12),
        Diagnostic(Severity.ERROR, "of a header", "other.h", 1, 1),
        Diagnostic(Severity.ERROR, "nowhere"),
    )
    compiled = tuple(
        Preflight(PreflightReport(gpu, "x", PreflightOutcome.REFUSED, diagnostics=places))
        for gpu in ("H100", "T4")
    )
    expected = Diagnostic(Severity.ERROR, "H100: no such name", "a/mine.py", 4, 12)
    assert [expected] == found(None, compiled)


def test_hostile_messages_are_one_short_line() -> None:
    (one,) = found(failed("\x1b[2J\u202e" + "x" * 9999, Verdict.TIME_LIMIT))
    assert (True, False, False) == (
        len(one.message) <= 500,
        "\x1b" in one.message,
        "\n" in one.message,
    )
