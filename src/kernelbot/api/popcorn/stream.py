"""A submission's progress as the server-sent events that those clients read."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from kernelbot.api.popcorn.results import as_timed_in_public, full_result
from kernelbot.api.popcorn.submissions import error_text
from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.preflight.rendering import short_text
from kernelbot.protocol import EventKind, Phase, Verdict
from kernelbot.render.intervals import ONE_JUDGING, of_all_judgings
from kernelbot.render.progress import COMPILING, WAITING, state_text
from kernelbot.render.report import report, workloads_table
from kernelbot.render.text import printable, shorten
from kernelbot.runs.model import Run
from kernelbot.submissions.model import Submission, SubmissionEvent
from kernelbot.submissions.pacing import paced

REPORT_OUTPUT_LIMIT = 8_000


def frame(event: str, data: dict[str, Any]) -> str:
    """One frame: JSON on a single line, in ASCII, so that nothing in it can end the frame."""
    return f"event: {event}\ndata: {json.dumps(data)}\n\n"


async def stream(
    submission: Submission,
    events: AsyncIterator[SubmissionEvent],
    final: Callable[[], Awaitable[Submission]],
    *,
    heartbeat_s: float,
) -> AsyncIterator[str]:
    """`status` frames while it is judged, one also after each `heartbeat_s` of silence, then one
    `result`, or one `error` if there is no result to show. `submission`: as it was accepted;
    `final` reads it after its end."""
    began_s = time.monotonic()
    yield _status(began_s, "accepted")
    if submission.not_ranked is not None:
        yield _status(began_s, submission.not_ranked.sentence)
    try:
        async with aclosing(paced(events, lambda: heartbeat_s)) as steps:
            async for event in steps:
                message = _message(event) if event else "still at it"
                if message is not None:
                    yield _status(began_s, message)
        submission = await final()
    except KernelbotError as error:
        # The stream has begun, so it is too late for an HTTP status.
        yield frame("error", {"status": "error", "detail": str(error)})
        return
    # A profile may have left 32 MiB, which takes a second to pack: others are answered meanwhile.
    yield await asyncio.to_thread(_end, submission)


def stopped(submission: Submission) -> str:
    """The last frame if the server stops before the submission's end."""
    detail = (
        f"The server is stopping. Submission {submission.id} is stored, and judged all the same:"
        " look at it once the server is back, and don't send it again."
    )
    return frame("error", {"status": "error", "detail": detail})


def _status(began_s: float, message: str) -> str:
    elapsed_s = round(time.monotonic() - began_s, 2)
    return frame("status", {"status": "processing", "elapsed_time": elapsed_s, "message": message})


def _message(event: SubmissionEvent) -> str | None:
    """A step in words; None for steps too small to mention."""
    where = f"{event.device}, secret data" if event.secret else event.device or ""
    match event.kind:
        case RunState():
            return f"{where}: {state_text(event.kind, reason=event.data.get('reason'))}"
        case EventKind.COMPILING:
            return f"{where}: {COMPILING}"
        case EventKind.COMPILED if event.data.get("message"):
            return f"{where}: {printable(shorten(str(event.data['message']), REPORT_OUTPUT_LIMIT))}"
        case EventKind.PHASE_STARTED:
            return f"{where}: {event.data.get('phase')} ..."
        case EventKind.WAITING:
            return f"{where}: {event.data.get('phase')}: {WAITING}"
        case EventKind.PHASE_FINISHED:
            return f"{where}: {event.data.get('phase')}: {event.data.get('verdict')}"
        case _:
            return None


def _end(submission: Submission) -> str:
    if submission.state is SubmissionState.CANCELLED:
        return frame("error", {"status": "error", "detail": error_text(submission)})
    # By device, public before secret: clients read the first result of each.
    runs = sorted(submission.runs, key=lambda run: (run.secret, run.id))
    results = [full_result(run).model_dump(mode="json") for run in as_timed_in_public(runs)]
    reports = [_report(run) for run in runs]
    reports += [short_text(one) for one in submission.preflights]
    if submission.not_ranked is not None:
        reports.append(submission.not_ranked.sentence)
    return frame("result", {"status": "success", "results": results, "reports": reports})


def _report(run: Run) -> str:
    if run.result is not None and not run.secret:
        return report(run.result, output_limit=REPORT_OUTPUT_LIMIT, passed_cases=False)
    if run.verdict is not Verdict.ACCEPTED:
        return f"{run.device}: {run.message or 'It could not be judged.'}"
    heading = f"{run.device}, secret data: accepted" + (
        f", score {run.score_s:.6g} s{' (unverified)' if run.unverified else ''}"
        if run.score_s is not None
        else ""
    )
    tables = [
        workloads_table(phase.workloads)
        for phase in (run.result.phases if run.result is not None else ())
        if phase.phase is Phase.LEADERBOARD
    ]
    interval = [of_all_judgings(run.interval)] if run.interval else []
    explained = [ONE_JUDGING] if tables else []
    return "\n".join([heading, *interval, *tables, *explained])
