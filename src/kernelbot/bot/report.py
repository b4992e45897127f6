"""How a submission ended, in a message: short, with the details as files."""

import base64
from collections.abc import Sequence

from kernelbot.bot.answers import Attached
from kernelbot.bot.progress import heading, score_text
from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.preflight.rendering import preflight_text, short_text
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.intervals import of_all_judgings
from kernelbot.render.markdown import (
    MESSAGE_LIMIT,
    fence,
    fenced_within,
    fits_fenced,
    inline,
    plain,
)
from kernelbot.render.progress import STATES
from kernelbot.render.report import TEXT, report
from kernelbot.render.standings import rank_text
from kernelbot.render.text import one_line, shorten
from kernelbot.render.units import seconds_text, time_text
from kernelbot.render.verdicts import FAULTS, mark
from kernelbot.runs.model import Run
from kernelbot.submissions.model import RankedOutcome, Submission

_MEDALS = {1: "🥇", 2: "🥈", 3: "🥉"}
_TIMES, _SPEC = 6, 60
"""Workloads of a benchmark whose times are shown, and characters of each one's name."""


def final_text(submission: Submission, outcomes: Sequence[RankedOutcome]) -> str:
    """For its author: a line per run, the first failure, and for a ranked one what it is worth. It
    fits into a message; the files have the rest."""
    lines = [heading(submission), *(run_line(run) for run in submission.runs)]
    closing = _closing(submission, outcomes, plain(submission.review_reason or ""))
    room = MESSAGE_LIMIT - len("\n".join([*lines, "", *closing]))
    failures = (_failure(run, room) for run in submission.runs)
    lines += [next((text for text in failures if text), "")]
    lines += _preflights(submission, MESSAGE_LIMIT - len("\n".join([*lines, *closing])))
    return "\n".join(line for line in [*lines, *closing] if line)


def _preflights(submission: Submission, room: int) -> list[str]:
    """What compilers said of it, as far as there is room for whole tables; the files have all."""
    lines = list[str]()
    for one in submission.preflights:
        text = short_text(one)
        if fits_fenced(text, room - 1):
            lines.append(fence(text))
            room -= len(lines[-1]) + 1
    return lines


def public_text(submission: Submission, outcomes: Sequence[RankedOutcome]) -> str:
    """The final text for a channel: nothing of the code, of what it printed, or of why it is held
    or refused."""
    lines = [f"{plain(submission.author)}: {heading(submission)}"]
    lines += [run_line(run) for run in submission.runs]
    lines += _closing(submission, outcomes, "")
    lines.append(f"Details: `/leaderboard get-submission id:{submission.id}`")
    return "\n".join(lines)


def run_line(run: Run) -> str:
    name = f"{plain(run.device)} {'secret' if run.secret else 'public'}"
    if run.state is not RunState.FINISHED or run.verdict is None:
        return f"• {name}: {STATES[run.state]}"
    ranked = run.mode is Mode.LEADERBOARD  # its score comes with its place
    score = f", {score_text(run.score_s)}" if run.score_s and not ranked else ""
    fault = FAULTS.get(run.fault) if run.fault else None
    ours = f" {fault}" if fault and run.fault != "author" else ""
    line = f"{mark(run.verdict)} {name}: {run.verdict.words}{score}{'.' + ours if ours else ''}"
    interval = [f"  {of_all_judgings(run.interval)}"] if run.interval else []
    return "\n".join([line, *interval, *_times(run)])


def _times(run: Run) -> list[str]:
    """A benchmark's median of each workload; the report has the rest."""
    if run.mode is not Mode.BENCHMARK or run.secret or run.result is None:
        return []
    timed = [phase.workloads for phase in run.result.phases if phase.workloads]
    loads = timed[-1] if timed else ()
    lines = [
        f"  {inline(shorten(one_line(load.spec), _SPEC))}: {time_text(load.median_ns)}"
        for load in loads[:_TIMES]
    ]
    more = len(loads) - len(lines)
    return [*lines, f"  and {more} more"] if more else lines


def _failure(run: Run, room: int) -> str:
    """The first failing case, else why the run failed, in at most `room` characters; empty if it
    didn't. The run's report has all of it."""
    if run.verdict in (None, Verdict.ACCEPTED):
        return ""
    phases = run.result.phases if run.result is not None else ()
    for phase in phases:
        for case in phase.cases:
            if case.verdict is not Verdict.ACCEPTED:
                said = f"{case.spec}\n{case.message}" if case.message else case.spec
                head = "First failing case:\n"
                return head + fenced_within(said, room - len(head))
    return fenced_within(run.message, room) if run.message else ""


def _closing(submission: Submission, outcomes: Sequence[RankedOutcome], reason: str) -> list[str]:
    if submission.state is SubmissionState.CANCELLED:
        return ["It was cancelled."]
    if submission.state is SubmissionState.HELD:
        return [f"⏸️ It is held until an organiser has looked at it. {reason}".rstrip()]
    if submission.review is ReviewState.REFUSED:
        return [f"It was refused{f': {reason}' if reason else '.'}"]
    return [outcome_text(one) for one in outcomes]


def outcome_text(one: RankedOutcome) -> str:
    """Rank, medal, personal best, gain and distance; or why it isn't ranked."""
    run, rank, found = one.run, one.rank, one.compared
    assert run.score_s is not None, "an outcome is of a run with a score"
    head = f"**{plain(run.device)}**: {seconds_text(run.score_s)}"
    if rank is None:
        return f"{head}. {plain(run.not_ranked.sentence) if run.not_ranked else 'Not ranked.'}"
    parts = [f"place {_rank_text(one)}"]
    gain = found.gain(run.score_s)
    if found.previous_s is None:
        parts.append("your first on this device")
    elif gain is not None:
        before = seconds_text(found.previous_s)
        parts.append(f"personal best, {gain:.2f} times as fast as before ({before})")
    if found.leader_s is not None and found.leader_s < run.score_s:
        behind = run.score_s / found.leader_s - 1
        parts.append(f"{behind:.1%} behind the leader ({seconds_text(found.leader_s)})")
    return f"{head}, {'; '.join(parts)}."


def _rank_text(one: RankedOutcome) -> str:
    """`=1 of 12 🥇`; empty if it has no rank."""
    if one.rank is None:
        return ""
    medal = f" {_MEDALS[one.rank.number]}" if one.rank.number in _MEDALS else ""
    return f"{rank_text(one.rank.number, one.rank.shared)} of {one.compared.authors}{medal}"


def files(submission: Submission) -> list[Attached]:
    """The whole report of each run that its author may see, the files that a profile left, and what
    compilers said."""
    found = []
    for run in submission.runs:
        if run.result is None:
            continue
        kind = "secret" if run.secret else "public"
        passed = submission.mode is Mode.TEST
        text = report(run.result, passed_cases=passed, interval=run.interval)
        found.append(Attached.text(f"report-{run.device}-{kind}.txt", text))
        for artifact in run.result.artifacts:
            content = base64.b64decode(artifact.content_base64)
            if content and artifact.media_type != TEXT:
                found.append(Attached(artifact.name, content))
    found += [
        Attached.text(f"preflight-{one.report.gpu}.txt", preflight_text(one))
        for one in submission.preflights
    ]
    return found


def bests_text(submission: Submission, outcomes: Sequence[RankedOutcome]) -> str:
    """The `best_text` of each device, as far as a message has room; empty if there is none."""
    texts = [best_text(submission, one) for one in outcomes]
    return shorten("\n".join(text for text in texts if text), MESSAGE_LIMIT)


def best_text(submission: Submission, one: RankedOutcome) -> str | None:
    """For everyone in the channel: a new personal best; None: it isn't one."""
    run = one.run
    if one.rank is None or run.score_s is None:
        return None
    is_first, is_best = one.compared.previous_s is None, one.compared.gain(run.score_s) is not None
    what = "first score" if is_first else "personal best" if is_best else "now ranked with"
    return (
        f"{plain(submission.author)} on **{plain(submission.board)}** ({plain(run.device)}): "
        f"{what} {seconds_text(run.score_s)}, place {_rank_text(one)}"
    )
