"""A job and what follows it while the node has the device: the run of a ranked submission on the
problem's own seeds, and then the one on secret seeds.

Both are judged as two jobs of one host are: a judge for each, runners that are used once, the GPU's
memory overwritten in between. What they share is what the node has loaded.
"""

import sys
from collections.abc import Callable

from kernelbot.harness.host.cancellation import AttemptLost, Cancelled
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult, Verdict

Emit = Callable[[ProgressEvent], None]
Attempt = Callable[[JobSpec, Emit], RunResult]
"""Judges one job, as `Host.attempt` does."""


def judge_both(job: JobSpec, emit: Emit, attempt: Attempt) -> tuple[RunResult, RunResult | None]:
    """The job's result, and that of what follows it: None if nothing does, if the job wasn't
    accepted, or if the second attempt is lost; then that run gets a job of its own. `emit` hears of
    the job alone. Raises what `attempt` raises for it."""
    result = attempt(job.alone, emit)
    if job.next_job is None or result.verdict is not Verdict.ACCEPTED:
        return result, None
    try:
        return result, attempt(job.next_job, _nobody_hears)
    except (AttemptLost, Cancelled, OSError) as error:
        print(f"what follows isn't judged: {error!r}", file=sys.stderr)
        return result, None


def _nobody_hears(_event: ProgressEvent) -> None:
    """Whose progress this would be isn't known to be running yet."""
