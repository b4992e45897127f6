"""A submission: what became of it, live while it is judged, and its code."""

import asyncio
import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import ServicesDep, SettingsDep, SubmissionId
from kernelbot.api.downloads import as_attachment, media_type
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.duels.model import Duel
from kernelbot.protocol import Mode
from kernelbot.runs.files import MAX_NAME, safe_name
from kernelbot.runs.queue.model import QueuePlace
from kernelbot.services import Services
from kernelbot.submissions.api.events import stream
from kernelbot.submissions.model import Event, Submission
from kernelbot.submissions.pages.preflights import shown_preflight
from kernelbot.submissions.pages.results import diff_lines, is_live, progress_of, shown_runs
from kernelbot.web import documents
from kernelbot.web.documents import TextsDep
from kernelbot.web.filters import wait
from kernelbot.web.pages import HEADERS, PageDep, go
from kernelbot.web.session import NeededSession, PostedSession

router = APIRouter(prefix="/submission", include_in_schema=False)

_EARLIER = 10
_DUELS = 20
_SHOWN_CODE_CHARACTERS = 100_000


@router.get("/{submission_id}")
async def show_submission(
    services: ServicesDep,
    session: NeededSession,
    page: PageDep,
    texts: TextsDep,
    submission_id: SubmissionId,
) -> Response:
    """All that the visitor may know of it."""
    user = session.user
    snapshot = await services.submissions.snapshot(user, submission_id)
    submission = await services.submissions.whole(snapshot)
    mine = submission.author_id == user.id
    ranked = submission.mode is Mode.LEADERBOARD and not is_live(submission)
    code = submission.code
    shown = documents.beginning(code or "", _SHOWN_CODE_CHARACTERS)
    outcomes, duels, artifacts, earlier = await asyncio.gather(
        services.outcomes.of(user, submission_id) if ranked else _none(),
        _duels(services, user, submission) if ranked else _none(),
        services.artifacts.list_artifacts(user, submission_id),
        _earlier(services, user, submission) if mine else _none(),
    )
    return page(
        "submission.html",
        submission=submission,
        mine=mine,
        live=is_live(submission),
        queue=queue_text(snapshot.queue) if snapshot.queue else "",
        runs=shown_runs(submission),
        preflights=[shown_preflight(one) for one in submission.preflights],
        outcomes=outcomes,
        duels=duels,
        artifacts=artifacts,
        earlier=earlier,
        source=await documents.source(texts, shown, submission.file_name, asker=user.id)
        if code is not None
        else None,
        cut=code is not None and len(shown) < len(code),
    )


async def _none() -> list[Any]:
    return []


async def _duels(services: Services, user: User, submission: Submission) -> list[Duel]:
    try:
        return await services.duels.list_duels(
            user, submission.board, submission_id=submission.id, limit=_DUELS
        )
    except NotFound:  # its author sees it still, but no longer the board
        return []


async def _earlier(services: Services, user: User, submission: Submission) -> list[Submission]:
    return await services.submissions.list_submissions(
        user, board=submission.board, limit=_EARLIER, before_id=submission.id
    )


@router.get("/{submission_id}/live")
async def follow(
    services: ServicesDep,
    settings: SettingsDep,
    session: NeededSession,
    submission_id: SubmissionId,
) -> StreamingResponse:
    """Server-sent events: `run` with a run's number and where it stands in words, `queue` with the
    place in the queue, `end`. A stream begins with all that has happened."""
    ask = services.submissions
    submission = await ask.get(session.user, submission_id)
    runs = {run.id: progress_of(run) for run in submission.runs}

    def frame_of(event: Event) -> str:
        progress = runs.get(event.run_id or 0)
        if progress is None:  # a rejudge's
            return ""
        progress.add(event)
        return _frame("run", {"run": event.run_id, "text": progress.text})

    frames = stream(
        ask.events(session.user, submission_id),
        partial(ask.queue_place, submission_id),
        heartbeat_s=settings.heartbeat_s,
        queue_s=settings.queue_s,
        frame_of=frame_of,
        queue_frame_of=lambda place: _frame("queue", {"text": queue_text(place)}),
    )
    headers = {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(frames, media_type="text/event-stream", headers=headers)


def _frame(kind: str, data: dict[str, object]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"


def queue_text(place: QueuePlace) -> str:
    """Where it waits, and how long still."""
    left = f", {wait(place.wait_s)} to go" if place.wait_s is not None else ""
    stalled = f" Nothing is judged there just now: {place.note}." if place.note else ""
    return f"Position {place.position} in the queue for {place.device}{left}.{stalled}"


@router.post("/{submission_id}/cancel")
async def cancel(
    services: ServicesDep, session: PostedSession, submission_id: SubmissionId
) -> Response:
    """Stop what waits or runs."""
    await services.submissions.cancel(session.user, submission_id)
    return go(f"/submission/{submission_id}")


@router.get("/{submission_id}/code")
async def download_code(
    services: ServicesDep, session: NeededSession, submission_id: SubmissionId
) -> Response:
    """Its source file."""
    submission = await services.submissions.get(session.user, submission_id)
    name = safe_name(submission.file_name)
    headers = {
        **HEADERS,
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    code = _code(submission)
    return Response(code.encode(), media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/{submission_id}/diff")
async def show_difference(
    services: ServicesDep,
    session: NeededSession,
    page: PageDep,
    texts: TextsDep,
    submission_id: SubmissionId,
    before: Annotated[int, Query(ge=1, le=BIGINT_MAX)],
) -> Response:
    """What changed since another one, both of which the visitor may read."""
    ask = services.submissions
    older = await ask.get(session.user, before)
    newer = await ask.get(session.user, submission_id)
    lines = await texts.compared(_code(older), _code(newer), asker=session.user.id)
    shown = None if lines is None else diff_lines(lines)
    return page("diff.html", older=older, newer=newer, lines=shown)


def _code(submission: Submission) -> str:
    if submission.code is None:
        raise NotAllowed(f"The code of submission {submission.id} isn't for you.")
    return submission.code


@router.get("/{submission_id}/file/{run_id}/{name}")
async def download_artifact(
    services: ServicesDep,
    session: NeededSession,
    submission_id: SubmissionId,
    run_id: Annotated[int, Path(ge=1, le=BIGINT_MAX)],
    name: Annotated[str, Path(max_length=MAX_NAME)],
) -> Response:
    """A file that a run left."""
    if name != safe_name(name):
        raise NotFound(f"Submission {submission_id} has no such file.")
    file, content = await services.artifacts.get(session.user, submission_id, run_id, name)
    headers = {**HEADERS, **as_attachment(file), "Cache-Control": "no-store"}
    return Response(content, media_type=media_type(file), headers=headers)
