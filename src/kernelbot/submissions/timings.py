"""What of a submission's results is compared: its times, its scores, and their limits."""

from kernelbot.protocol import DeviceSpec, Phase, ProblemSpec, WorkloadResult
from kernelbot.ranking.roofline import RooflineLimit, limit_of
from kernelbot.runs.model import Run
from kernelbot.submissions.model import Submission


def timed(run: Run) -> tuple[WorkloadResult, ...]:
    """The measurements of the last timed phase; empty if there are none, or they aren't shown."""
    phases = run.result.phases if run.result is not None else ()
    found = [phase.workloads for phase in phases if phase.workloads]
    return found[-1] if found and phases[-1].phase is not Phase.PROFILE else ()


def timed_run(submission: Submission, device: str) -> Run | None:
    """The run whose times are compared: of a ranked submission the secret one, which alone is
    timed."""
    runs = [run for run in submission.runs if run.device == device and timed(run)]
    return min(runs, key=lambda run: run.secret, default=None)


def limit_on(
    submission: Submission, problem: ProblemSpec | None, device: str, spec: DeviceSpec | None
) -> RooflineLimit | None:
    """The limit of the submission's score on a device: of the last run with one, the secret run.
    `problem`: the board's, if the viewer sees it; `spec`: the device's."""
    run = timed_run(submission, device)
    scores = [run.score_s for run in submission.runs if run.device == device and run.score_s]
    if run is None or not scores:
        return None
    return limit_of(scores[-1], [load.spec for load in timed(run)], problem, spec)
