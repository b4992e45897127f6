"""The one table from errors to exit codes, and how an error is printed."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import Any

from kernelbot.cli.terminal import fitting
from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Fault, Verdict

ACCEPTED, REFUSED, USAGE, OURS, INTERRUPTED, OUTPUT_CLOSED = 0, 1, 2, 3, 130, 141
"""Exit codes: fine; the submission's author's fault; bad usage, problem or file; our fault;
Ctrl-C."""

ADVICE: dict[Next, str] = {
    Next.TRY_AGAIN: "Try again in a moment.",
    Next.BEGIN_AGAIN: "Run the command again.",
    Next.LOG_IN: (
        "Log in: `kernelbot login URL TOKEN`. An admin makes tokens: `kernelbot user create NAME`."
    ),
    Next.ASK_ADMIN: "Ask an admin.",
    Next.ASK_ORGANISERS: "Ask the organisers.",
    Next.CHOOSE_ANOTHER_NAME: "Choose another name.",
    Next.NAME_BOARD: "Use --board, or write `#!POPCORN leaderboard NAME` at the top of the file.",
    Next.LIST_BOARDS: "See: `kernelbot board list`",
    Next.LIST_SUBMISSIONS: "See: `kernelbot submission list`",
    Next.SHOW_SUBMISSION: "See: `kernelbot submission show ID`",
    Next.CANCEL_SUBMISSION: "Wait for one, or cancel one: `kernelbot submission cancel ID`",
    Next.LIST_ARTIFACTS: "See: `kernelbot submission artifacts ID`",
    Next.LIST_USERS: "See: `kernelbot user list`",
    Next.LIST_IDENTITIES: "See: `kernelbot identity list`",
    Next.LIST_TOKENS: "See: `kernelbot token list`",
    Next.REVOKE_TOKENS: "Revoke some: `kernelbot token revoke ID`",
    Next.LIST_INVITES: "See: `kernelbot invite list BOARD`",
    Next.LIST_WEBHOOKS: "See: `kernelbot webhook list`",
    Next.DELETE_WEBHOOKS: "Delete some: `kernelbot webhook delete ID`",
    Next.REPLACE_WEBHOOK: "If its secret is lost, delete it first: `kernelbot webhook delete ID`",
    Next.ENABLE_WEBHOOK: "Enable it first: `kernelbot webhook enable ID`",
    Next.SHOW_WEBHOOK_LOG: "See: `kernelbot webhook log ID`",
    Next.LIST_SIGNING_KEYS: "The platform shows its keys: `kernelbot signing-key list`",
    Next.CHANGE_CHAT_SETTINGS: "In Discord, `/admin settings` changes that.",
    Next.MIGRATE_DATABASE: "Run `kernelbot db migrate` where the server is.",
    Next.FORCE: "With --force they are deleted as well.",
}
"""What to do next, for those in a terminal."""


def error_text(error: KernelbotError) -> str:
    """What happened and what to do next, on one line."""
    return f"{error} {error.advice(ADVICE)}".rstrip()


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
