"""The one table from errors to exit codes, and how an error is printed."""

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from kernelbot.cli.terminal import fitting
from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Fault, Verdict
from kernelbot.protocol.late import dataclass

ACCEPTED, REFUSED, USAGE, OURS, INTERRUPTED, OUTPUT_CLOSED = 0, 1, 2, 3, 130, 141
"""Exit codes: fine; the submission's author's fault; bad usage, problem or file; our fault;
Ctrl-C."""


def exit_code_of(verdict: Verdict | None, fault: Fault | None) -> int:
    """For a submission that was judged. None: no verdict, because it was cancelled."""
    if verdict is Verdict.ACCEPTED:
        return ACCEPTED
    if verdict is Verdict.INTERNAL_ERROR or fault in (Fault.PLATFORM, Fault.SCHEDULER):
        return OURS
    return REFUSED


def discard_output() -> None:
    """Python would try to write what is left, and report that again while exiting."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_error(error: KernelbotError, *, as_json: bool) -> int:
    """Say what went wrong; returns the exit code. A problem's mistakes are listed one by one."""
    from kernelbot.render.advice import ADVICE  # few commands end so

    report = _Report(error.code, str(error), error.fault, error.next_step, error.advice(ADVICE))
    findings = [asdict(finding) for finding in getattr(error, "findings", ())]
    _write(report, as_json=as_json, more={"findings": findings} if findings else {})
    return USAGE if error.fault is Fault.AUTHOR else OURS


def report_usage(message: str, command: str, *, as_json: bool) -> int:
    """Say that `command` was not understood, of which the path is known so far."""
    report = _Report("bad_usage", message, Fault.AUTHOR, None, f"`{command} --help` explains.")
    _write(report, as_json=as_json)
    return USAGE


def report_crash(error: Exception, *, as_json: bool) -> int:
    """Say that the program has a bug."""
    if not as_json:
        import traceback

        traceback.print_exception(error)
    detail = f"{type(error).__name__}: {error}"
    hint = "This is a bug; please report it."
    _write(_Report("crash", detail, Fault.PLATFORM, None, hint), as_json=as_json)
    return OURS


@dataclass(frozen=True)
class _Report:
    """What is printed of an error."""

    code: str
    detail: str
    fault: Fault
    next: Next | None
    hint: str


def _write(report: _Report, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"error": {**asdict(report), **(more or {})}}, indent=2) + "\n")
        sys.stdout.flush()
    else:
        text = f"Error: {report.detail}\n" + (f"{report.hint}\n" if report.hint else "")
        sys.stderr.write(fitting(text, sys.stderr))
