"""Attempts that a worker follows, and which nobody should."""

from dataclasses import dataclass

from kernelbot.protocol import JobSpec
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.model import RunRef
from kernelbot.runs.store import OpenAttempt

MAX_TAKEOVERS = 5
"""How many workers may die or stop while following one attempt, which may be the cause."""
_DEADLY = "one worker after another ended while following it"


@dataclass(frozen=True)
class Claim:
    """An attempt that this worker follows. `handle` None: it must be launched; launching is
    idempotent by `spec.job_id`, so it does no harm if it was launched already."""

    attempt_id: int
    run_id: int
    submission_id: int | None
    """None for what is known to be right."""
    spec: JobSpec
    launcher: str
    handle: str | None
    run: RunRef
    """The run as it is while this attempt is open."""
    waited_s: float
    age_s: float
    """How long ago the attempt was begun, by whoever had it first."""
    is_ranked: bool
    """Whether it is the run of a submission that may be ranked by it."""
    alone: bool
    """Whether nothing may run beside it: a run that was lost once may bring down others, the times
    of a rejudge are compared with each other, and others with what is known to be right."""


def why_not_followed(attempt: OpenAttempt, device: DeviceConfig) -> str | None:
    """Why nobody should follow an attempt that was taken over; None: it may be followed."""
    if attempt.takeovers > MAX_TAKEOVERS:
        return _DEADLY
    if attempt.launcher not in device.launchers:
        return f"launcher {attempt.launcher!r}, which had it, is configured no more"
    return None
