"""A submission as text."""

from typing import TYPE_CHECKING

from kernelbot.cli.score_comparison import limit_lines
from kernelbot.cli.terminal import columns
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.preflight.rendering import preflight_text
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.intervals import of_all_judgings, of_one_judging, of_the_score
from kernelbot.render.progress import state_text
from kernelbot.render.report import TEXT, details
from kernelbot.render.standings import rank_text
from kernelbot.render.text import one_line, printable
from kernelbot.render.units import seconds_text, to_go_text
from kernelbot.render.verdicts import FAULTS, mark

if TYPE_CHECKING:
    from kernelbot.runs.model import RunView
    from kernelbot.submissions.model import SubmissionView


def outcome(submission: "SubmissionView", page_url: str) -> str:
    """All that is known of it: the verdict, the score and the place, how much of what the device
    can do was reached, then what compilers said and the runs' reports, and where its page is."""
    preflights = [preflight_text(one, columns()) for one in submission.preflights]
    parts = [closing(submission)]
    if limits := limit_lines(submission.comparisons):
        parts.append("\n".join(limits))
    parts += [*preflights, *(_run(run) for run in submission.runs)]
    if lines := noticed(submission):
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *where_more_is(submission, page_url)])


def noticed(submission: "SubmissionView") -> list[str]:
    """What was noticed about it, a sentence each."""
    return [
        f"Noticed by {one_line(item.source)}: {one_line(item.rule)} ({one_line(item.severity)}): "
        f"{printable(item.detail)}"
        for item in submission.evidence
    ]


def where_more_is(submission: "SubmissionView", page_url: str) -> list[str]:
    """Where its page is, and before that its files, if a run left some besides the texts, which are
    part of the report."""
    page = f"Its page: {page_url}"
    results = (run.result for run in submission.runs if run.result is not None)
    if any(item.media_type != TEXT for result in results for item in result.artifacts):
        return [f"Its files: kernelbot submission artifacts {submission.id} --save FOLDER", page]
    return [page]


def wait_text(wait_s: float | None) -> str:
    """What follows a place in the queue; empty without an estimate."""
    return "" if wait_s is None else f", {to_go_text(wait_s)}"


def closing(submission: "SubmissionView") -> str:
    """How it ended, its score with its interval and its place, or why it isn't ranked."""
    why = submission.not_ranked
    return _ending(submission) + (f"\n{printable(why.sentence)}" if why else "")


def _ending(submission: "SubmissionView") -> str:
    name = f"Submission {submission.id} ({one_line(submission.file_name)})"
    if submission.state is SubmissionState.QUEUED and submission.queue_position:
        wait = wait_text(submission.wait_s)
        why = submission.queue_note
        stalled = f" Its device is not available: {printable(why)}." if why else ""
        return f"{name} waits in the queue at position {submission.queue_position}{wait}.{stalled}"
    if submission.state is SubmissionState.HELD:
        return f"! {name} is held. {printable(submission.review_reason or '')}"
    if submission.state is not SubmissionState.FINISHED or submission.verdict is None:
        return f"{name} is {submission.state}."
    if submission.review is ReviewState.REFUSED:
        return f"✗ {name} was refused: {printable(submission.review_reason or '')}"
    lines = [f"{mark(submission.verdict)} {name}: {submission.verdict.words}"]
    if submission.score_s:
        secret = " on secret data" if submission.mode is Mode.LEADERBOARD else ""
        place = ""
        if submission.place:
            rank = rank_text(submission.place, submission.place_is_shared)
            place = f", place {rank} on {submission.board}"
        found = of_the_score(submission.runs, submission.score_s)
        interval = f" ({found})" if found else ""
        lines.append(f"Score {seconds_text(submission.score_s)}{interval}{secret}{place}")
    return "\n".join(lines)


def _run(run: "RunView") -> str:
    lines = [f"{'Secret' if run.secret else 'Public'} run on {run.device}: {_ended(run)}"]
    accepted = run.verdict is Verdict.ACCEPTED
    if accepted and run.score_s:
        lines[0] += f", score {seconds_text(run.score_s)}"
        lines.append(_interval(run))
    if run.result is not None:
        passed = run.mode is Mode.TEST
        lines.append(details(run.result, passed_cases=passed, columns=columns()))
    elif not accepted:
        lines += [printable(run.message)] if run.message else []
        lines += [FAULTS[run.fault]] if run.fault in FAULTS and run.fault != "author" else []
    return "\n".join(line for line in lines if line)


def _interval(run: "RunView") -> str:
    """The interval of an accepted run's score, and what it consists of; empty if none is known."""
    if run.interval:
        return f"  {of_all_judgings(run.interval)}"
    own = run.result.score_ci95_s if run.result else None
    return f"  {of_one_judging(own)}" if own else ""


def _ended(run: "RunView") -> str:
    if run.state is not RunState.FINISHED or run.verdict is None:
        return state_text(run.state, run.repeats)
    return run.verdict.words
