"""A submission as those clients read it: pure functions."""

from collections.abc import Iterable

from kernelbot.api.popcorn.models import (
    JobItem,
    RunItem,
    RunnerQueue,
    ScoreItem,
    SubmissionDetails,
    SubmissionItem,
)
from kernelbot.api.popcorn.results import as_timed_in_public, phase_values
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.preflight.rendering import short_text
from kernelbot.protocol import Mode, Phase, Verdict
from kernelbot.render.report import report
from kernelbot.render.text import printable, shorten
from kernelbot.runs.model import Run
from kernelbot.submissions.model import Submission

STATUS: dict[SubmissionState, str] = {
    SubmissionState.QUEUED: "pending",
    SubmissionState.RUNNING: "running",
    SubmissionState.CANCELLED: "failed",
}
"""For submissions without a verdict; other states are shown by their own names."""

OPEN = (SubmissionState.QUEUED, SubmissionState.RUNNING)
"""While it is in one of these states, clients continue to poll."""
SHOWN_RESULTS = (Phase.TEST, Phase.BENCHMARK)
OUTPUT_LIMIT = 8_000
"""Characters shown of each of a failed program's outputs."""


def done(submission: Submission) -> bool:
    """Whether nothing will change any more."""
    return submission.state not in OPEN


def status(submission: Submission) -> str:
    """The job's status. `failed`, `timed_out` and `hacked`, which is the contract's word for what
    an organiser has refused, make a client stop and show the error."""
    if submission.state is not SubmissionState.FINISHED:
        return STATUS.get(submission.state, submission.state.value)
    if submission.review is ReviewState.REFUSED:
        return "hacked"
    if submission.verdict is Verdict.ACCEPTED:
        return "succeeded"
    return "timed_out" if submission.verdict is Verdict.TIME_LIMIT else "failed"


def error_text(submission: Submission) -> str | None:
    """What went wrong, for the author: the failing test, the message, the program's output.

    None while nothing has: these clients show no other text than this.
    """
    if submission.state is SubmissionState.CANCELLED:
        return "The submission was cancelled."
    if submission.state is not SubmissionState.FINISHED:
        return None
    if submission.review is ReviewState.REFUSED:
        return f"It was refused: {printable(submission.review_reason or '')}"
    parts = [_why(run) for run in submission.runs if run.verdict is not Verdict.ACCEPTED]
    if parts:
        parts += [short_text(one) for one in submission.preflights]
    return "\n\n".join(parts) or None


def details(submission: Submission, queue: RunnerQueue | None) -> SubmissionDetails:
    """One submission, as its author may see it."""
    return SubmissionDetails(
        id=submission.id,
        leaderboard_id=submission.board_id,
        leaderboard_name=submission.board,
        file_name=submission.file_name,
        user_id=str(submission.author_id),
        submission_time=submission.created_at,
        done=done(submission),
        code=submission.code,
        runs=[item for run in as_timed_in_public(submission.runs) for item in run_items(run)],
        job=JobItem(
            status=status(submission),
            error=error_text(submission),
            last_heartbeat=max(
                (run.started_at for run in submission.runs if run.started_at), default=None
            ),
        ),
        runner_queue=queue,
        not_ranked=submission.not_ranked,
    )


def listed(submission: Submission) -> SubmissionItem:
    """A submission in its author's list, with the score on each device."""
    counted = [
        run for run in submission.runs if run.secret == (submission.mode is Mode.LEADERBOARD)
    ]
    return SubmissionItem(
        id=submission.id,
        leaderboard_name=submission.board,
        file_name=submission.file_name,
        submission_time=submission.created_at,
        done=done(submission),
        runs=[
            ScoreItem(gpu_type=run.device, score=_ranked_score(run), unverified=run.unverified)
            for run in counted
        ],
        not_ranked=submission.not_ranked,
    )


def run_items(run: Run) -> Iterable[RunItem]:
    """A finished run as one item per phase: clients look for the phase of their mode. A run that
    hasn't ended isn't shown, since they would read it as failed."""
    if run.state is not RunState.FINISHED:
        return
    phases = run.result.phases if run.result and not run.secret else ()
    for phase in phases:
        counts = phase.phase is Phase.LEADERBOARD
        yield _item(
            run,
            phase.phase,
            passed=phase.verdict is Verdict.ACCEPTED,
            score=run.score_s if counts else None,
            result=phase_values(phase) if phase.phase in SHOWN_RESULTS else None,
        )
    if not phases:
        yield _item(run, run.mode, passed=run.verdict is Verdict.ACCEPTED, score=_ranked_score(run))


def _item(
    run: Run,
    mode: str,
    *,
    passed: bool,
    score: float | None,
    result: dict[str, str | int] | None = None,
) -> RunItem:
    return RunItem(
        start_time=run.started_at,
        end_time=run.finished_at,
        mode=mode,
        secret=run.secret,
        runner=run.device,
        score=score,
        passed=passed,
        unverified=run.unverified,
        result=result,
    )


def _ranked_score(run: Run) -> float | None:
    return run.score_s if run.mode is Mode.LEADERBOARD else None


def _why(run: Run) -> str:
    if run.result is not None and not run.secret:
        return report(run.result, output_limit=OUTPUT_LIMIT, passed_cases=False)
    message = run.message or "It could not be judged."
    return printable(shorten(f"{run.device}: {message}", OUTPUT_LIMIT))
