"""The one table from errors to exit codes, and how an error is told."""

import json
import sys
import traceback

from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Fault, Verdict

ACCEPTED, REFUSED, USAGE, OURS = 0, 1, 2, 3
"""Exit codes: fine; the submission's author's fault; bad usage, problem or file; our fault."""


def exit_code_of(verdict: Verdict | None, fault: Fault | None) -> int:
    """For a submission that was judged. None: no verdict, because it was cancelled."""
    if verdict is Verdict.ACCEPTED:
        return ACCEPTED
    if verdict is Verdict.INTERNAL_ERROR or fault in (Fault.PLATFORM, Fault.SCHEDULER):
        return OURS
    return REFUSED


def tell(error: KernelbotError, *, as_json: bool) -> int:
    """Say what went wrong; returns the exit code."""
    _tell(error.code, str(error), error.fault, error.hint, as_json)
    return USAGE if error.fault is Fault.AUTHOR else OURS


def tell_usage(message: str, *, as_json: bool) -> int:
    """The command itself was not understood."""
    _tell("bad_usage", message, Fault.AUTHOR, "`kernelbot --help` explains.", as_json)
    return USAGE


def tell_crash(error: Exception, *, as_json: bool) -> int:
    """A mistake of ours that nobody foresaw."""
    if not as_json:
        traceback.print_exception(error)
    detail = f"{type(error).__name__}: {error}"
    _tell("crash", detail, Fault.PLATFORM, "This is a bug; please report it.", as_json)
    return OURS


def _tell(code: str, detail: str, fault: Fault, hint: str, as_json: bool) -> None:
    if as_json:
        found = {"code": code, "detail": detail, "fault": fault.value, "hint": hint}
        sys.stdout.write(json.dumps({"error": found}, indent=2) + "\n")
        sys.stdout.flush()
    else:
        sys.stderr.write(f"Error: {detail}\n" + (f"{hint}\n" if hint else ""))
