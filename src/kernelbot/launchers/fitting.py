"""Whether a job can be judged within what its scheduler gives each job, whatever it asks for."""

from kernelbot.domain.errors import JobRefused
from kernelbot.protocol import JobSpec


def must_end_within(limit_s: float, spec: JobSpec, slack_s: float, *, what: str, hint: str) -> None:
    """Raises `JobRefused` if judging, with `slack_s` beside the judge's own limits, may take longer
    than `limit_s`. `what` ends then, with the result: each attempt would be lost after all that
    time. `hint`: how it is given longer."""
    needed_s = spec.longest_s + slack_s
    if needed_s > limit_s:
        raise JobRefused(
            f"Judging may take {needed_s:.0f} s, and {what} ends after {limit_s:.0f} s.",
            hint=f"{hint}, or give the problem shorter limits.",
        )
