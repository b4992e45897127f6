"""`submission show --timings`: where the seconds went."""

from dataclasses import replace
from typing import TYPE_CHECKING

from kernelbot.render.timings import RunTimes, timings_text

if TYPE_CHECKING:
    from kernelbot.submissions.schemas import RunView, SubmissionView


def timings(submission: "SubmissionView") -> str:
    """A table for each of its runs, in the order in which they were judged."""
    runs = sorted(submission.runs, key=lambda run: (run.secret, run.id))
    return timings_text(submission.created_at, [_times(run) for run in runs])


def _times(run: "RunView") -> RunTimes:
    name = f"{run.device}, secret data" if run.secret else run.device
    times = RunTimes(name, run.created_at, run.started_at, run.finished_at)
    if run.result is None:
        return times
    phases_s = {phase: found.duration_s for phase, found in run.result.phases.items()}
    return replace(
        times,
        phases_s=phases_s,
        timings_s=run.result.timings,
        judged_s=run.result.timings.get("total", run.result.duration_s),
    )
