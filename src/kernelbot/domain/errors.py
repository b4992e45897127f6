"""The error tree. Every error says whose fault it is, what happened, and what to do next.

A door turns these into its own form (HTTP status, exit code) with one table; see
`api/errors.py` and `cli/errors.py`. `code` is the machine word that every door shows. `code` and
`fault` belong to the class, except for errors that a client receives from a server. What to do
next is said in each door's own words: with one more table, from `Next` to its sentence.
"""

from collections.abc import Mapping, Sequence

from kernelbot.domain.next_steps import Next
from kernelbot.protocol import Fault
from kernelbot.protocol.late import dataclass

_MOST_SHOWN = 50
"""Mistakes of a definition that are listed."""


class KernelbotError(Exception):
    """Base of everything we raise on purpose.

    `str(error)` is one sentence a person understands. What to do next is `next_step`, for which
    each door has its own sentence, or `hint`, a sentence that is the same at every door. With
    neither there is nothing to do but what the error says.
    """

    code: str = "error"
    fault: Fault = Fault.PLATFORM

    def __init__(self, message: str, *, hint: str = "", next_step: Next | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.next_step = next_step

    def advice(self, sentences: Mapping[Next, str]) -> str:
        """What to do next in the words of the door with these sentences; empty: nothing."""
        return self.hint if self.next_step is None else sentences[self.next_step]


class UserError(KernelbotError):
    """The person who asked can correct it."""

    code = "bad_request"
    fault = Fault.AUTHOR


class InvalidSubmission(UserError):
    """The file, its name, its encoding or its directives can't be accepted."""

    code = "invalid_submission"


class SubmissionTooLarge(InvalidSubmission):
    """The file is over the size limit."""

    code = "submission_too_large"


@dataclass(frozen=True)
class Finding:
    """One thing to correct (or to know) in a definition: where it is and what it is."""

    file: str
    """Path as the author knows it, relative to the problem's folder if it lies in it."""
    key: str
    """Path of the key, e.g. `tests[2].seed`; empty if the whole file is meant."""
    line: int | None
    """1-based; None if the file as a whole is meant."""
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class InvalidProblem(UserError):
    """A definition has mistakes; the message lists each with file, key and line."""

    code = "invalid_problem"

    def __init__(self, message: str, *, hint: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(message, hint=hint)
        self.findings = tuple(findings)

    @classmethod
    def listing(cls, what: str, findings: Sequence[Finding]) -> "InvalidProblem":
        """The error that says what is wrong with `what`, in the order of files and lines."""
        ordered = sorted(findings, key=lambda finding: (finding.file, finding.line or 0))
        count = "a mistake" if len(ordered) == 1 else f"{len(ordered)} mistakes"
        lines = [f"  {finding}" for finding in ordered[:_MOST_SHOWN]]
        if len(ordered) > _MOST_SHOWN:
            lines.append(f"  ... and {len(ordered) - _MOST_SHOWN} more")
        return cls(
            "\n".join([f"{what} has {count}:", *lines]),
            hint="Correct what is listed, then try again.",
            findings=ordered,
        )


class NotFound(UserError):
    """No such thing, or none that this person may see."""

    code = "not_found"


class NotAuthenticated(UserError):
    """No token, or one that isn't valid."""

    code = "not_authenticated"


class NotAllowed(UserError):
    """The person lacks the right to do what they asked for."""

    code = "not_allowed"


class Banned(NotAllowed):
    """The person's account is banned."""

    code = "banned"


class LinkExpired(NotAllowed):
    """The time of a signed link is over, or that of what it was for."""

    code = "link_expired"


class BoardClosed(NotAllowed):
    """The deadline has passed."""

    code = "deadline_passed"


class DeviceNotOffered(UserError):
    """The board doesn't offer the device."""

    code = "device_not_offered"


class DeviceUnavailable(UserError):
    """The device takes no jobs just now, and the board lets none wait."""

    code = "device_unavailable"


class Conflict(UserError):
    """The request contradicts what is there: a name is taken, or a state no longer allows it."""

    code = "conflict"


class TooManyRequests(UserError):
    """A rate limit. `retry_after_s` says when to come back, as does its hint if none is
    given."""

    code = "rate_limited"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float,
        hint: str | None = None,
        next_step: Next | None = None,
    ) -> None:
        later = f"Try again in {max(1, round(retry_after_s))} s."
        super().__init__(message, hint=later if hint is None else hint, next_step=next_step)
        self.retry_after_s = retry_after_s


class SlowDown(TooManyRequests):
    """The client polls a login too often; `retry_after_s`: how long to wait from now on."""

    code = "slow_down"


class PlatformError(KernelbotError):
    """Our fault: the request was fine."""

    code = "platform_error"


class Unavailable(PlatformError):
    """A part that we need isn't available just now; trying again later helps."""

    code = "unavailable"
    retry_after_s: float = 5.0
    """When that is worth it."""


class Paused(PlatformError):
    """An organiser has paused the platform: no submissions are taken for a while."""

    code = "paused"


class SchemaOutdated(PlatformError):
    """The database has an older (or newer) schema than this release."""

    code = "schema_outdated"


class SchedulerError(KernelbotError):
    """The outside system that runs jobs refused or failed."""

    code = "scheduler_error"
    fault = Fault.SCHEDULER


class NoRoom(SchedulerError):
    """The outside system takes no more jobs just now, because there are as many as it lets be. The
    job is fine, and wasn't taken; `unsure`: there may be one all the same, of this try or of one
    before it."""

    def __init__(self, message: str, *, unsure: bool = False) -> None:
        super().__init__(message)
        self.unsure = unsure


class RateLimited(NoRoom):
    """The outside system takes no requests of ours for `for_s` seconds. It is there, and so are the
    jobs, also those of whose launches no answer came."""

    def __init__(self, message: str, *, for_s: float) -> None:
        super().__init__(message, unsure=True)
        self.for_s = for_s


class DeviceRefused(SchedulerError):
    """The outside system doesn't take what every job of the device asks for, until somebody has
    mended that. The job is fine, and wasn't taken."""


class JobRefused(SchedulerError):
    """The outside system won't ever take this job, however often it is asked."""

    code = "job_refused"
