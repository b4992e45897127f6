"""A submission as text."""

from typing import TYPE_CHECKING

from kernelbot.cli.terminal import columns
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.render.progress import STATES
from kernelbot.render.report import TEXT, report
from kernelbot.render.text import one_line, printable
from kernelbot.render.units import seconds_text
from kernelbot.render.verdicts import FAULTS, TITLES, mark

if TYPE_CHECKING:
    from kernelbot.schemas.submissions import RunView, SubmissionView


def outcome(submission: "SubmissionView") -> str:
    """All that is known of it: the runs' reports, then one closing line."""
    parts = [_run(run) for run in submission.runs]
    noticed = [
        f"Noticed by {one_line(item.source)}: {one_line(item.rule)} ({one_line(item.severity)}): "
        f"{printable(item.detail)}"
        for item in submission.evidence
    ]
    if noticed:
        parts.append("\n".join(noticed))
    if _has_files(submission):
        parts.append(f"Its files: kernelbot submission artifacts {submission.id} --save FOLDER")
    return "\n\n".join([*parts, closing(submission)])


def _has_files(submission: "SubmissionView") -> bool:
    """Whether there is more than the texts, which are part of the report."""
    results = (run.result for run in submission.runs if run.result is not None)
    return any(item.media_type != TEXT for result in results for item in result.artifacts)


def wait_text(wait_s: float | None) -> str:
    """What is added to a place in the queue; nothing where no guess can be made."""
    if wait_s is None:
        return ""
    if wait_s < 1:
        return ", any moment now"
    if wait_s < 90:
        return f", about {wait_s:.0f} s to go"
    return f", about {wait_s / 60:.0f} min to go"


def closing(submission: "SubmissionView") -> str:
    """The line one looks for."""
    name = f"Submission {submission.id} ({one_line(submission.file_name)})"
    if submission.state is SubmissionState.QUEUED and submission.queue_position:
        wait = wait_text(submission.wait_s)
        return f"{name} waits in the queue at position {submission.queue_position}{wait}."
    if submission.state is SubmissionState.HELD:
        return f"! {name} is held. {printable(submission.review_reason or '')}"
    if submission.state is not SubmissionState.FINISHED or submission.verdict is None:
        return f"{name} is {submission.state}."
    if submission.review is ReviewState.REFUSED:
        return f"✗ {name} was refused: {printable(submission.review_reason or '')}"
    score = f", score {seconds_text(submission.score_s)}" if submission.score_s else ""
    place = f", place {submission.place} on {submission.board}" if submission.place else ""
    return f"{mark(submission.verdict)} {name}: {TITLES[submission.verdict]}{score}{place}"


def _run(run: "RunView") -> str:
    title = f"--- {'secret' if run.secret else 'public'} run on {run.device} ---"
    if run.result is not None:
        return f"{title}\n{report(run.result.to_result(), columns=columns())}"
    if run.state is not RunState.FINISHED or run.verdict is None:
        return f"{title}\n{STATES[run.state]}"
    score = f", score {seconds_text(run.score_s)}" if run.score_s else ""
    lines = [title, f"{mark(run.verdict)} {TITLES[run.verdict]}{score}"]
    if run.message:
        lines.append(printable(run.message))
    if run.fault in FAULTS and run.fault != "author":
        lines.append(FAULTS[run.fault])
    return "\n".join(lines)
