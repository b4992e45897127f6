"""A submission: what became of it, live while it is judged, and its code."""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from kernelbot.accounts.model import User
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.api.departures import EventStream
from kernelbot.api.dependencies import SettingsDep, SubmissionId
from kernelbot.api.downloads import as_attachment, media_type
from kernelbot.boards.model import BoardProblem, Visibility
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.drawing.texts import Texts
from kernelbot.duels.model import Duel
from kernelbot.preflight.error_places import error_positions
from kernelbot.protocol import Mode
from kernelbot.render.intervals import of_the_score
from kernelbot.runs.files import MAX_NAME, safe_name
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.schemas.values import to_json
from kernelbot.services import Services
from kernelbot.submissions.api.events import stream
from kernelbot.submissions.model import Submission, SubmissionEvent
from kernelbot.submissions.pages.comparison import comparisons
from kernelbot.submissions.pages.preflights import shown_preflight
from kernelbot.submissions.pages.profile import profiles_of
from kernelbot.submissions.pages.progress import LiveState, SubmissionProgress
from kernelbot.submissions.pages.results import diff_lines, is_live, shown_runs
from kernelbot.submissions.sharing.rules import code_from, is_result
from kernelbot.web import documents
from kernelbot.web.documents import TextsDep
from kernelbot.web.pages import HEADERS, PersonPage, PostedPage, go

router = APIRouter(prefix="/submission", include_in_schema=False)

_EARLIER = 10
_DUELS = 20
_SHOWN_CODE_CHARACTERS = 100_000


@router.get("/{submission_id}")
async def show_submission(
    page: PersonPage, texts: TextsDep, submission_id: SubmissionId
) -> Response:
    """All that the visitor may know of it, what answers "how am I doing" first."""
    user = page.user
    snapshot = await page.services.submissions.snapshot(user, submission_id)
    submission = await page.services.submissions.whole(snapshot)
    mine = submission.author_id == user.id
    live = is_live(submission)
    ranked = submission.mode is Mode.LEADERBOARD and not live
    problem = await _problem(page.services, user, submission)
    outcomes, compared, duels, artifacts, earlier = await asyncio.gather(
        page.services.outcomes.for_snapshot(user, snapshot) if ranked else _none(),
        _none()
        if live
        else comparisons(
            page.services, user, snapshot, submission, problem.spec if problem else None
        ),
        _duels(page.services, user, submission) if ranked else _none(),
        page.services.artifacts.list_artifacts(user, submission_id),
        _earlier(page.services, user, submission) if mine else _none(),
    )
    return page(
        "submission.html",
        submission=submission,
        mine=mine,
        page_id=None if mine else await page.services.authors.page_id(submission.author_id),
        live=live,
        again=mine and problem is not None,
        progress=SubmissionProgress(snapshot.row, submission.runs, snapshot.queue).state,
        interval=of_the_score(submission.runs, submission.score_s),
        runs=shown_runs(submission),
        preflights=[shown_preflight(one) for one in submission.preflights],
        outcomes=outcomes,
        comparisons=compared,
        duels=duels,
        artifacts=artifacts,
        profiles=profiles_of(submission, artifacts),
        earlier=earlier,
        **await _code_shown(texts, submission, problem, asker=user.id),
        **await _sharing(page.services, user, submission, problem),
    )


async def _problem(services: Services, user: User, submission: Submission) -> BoardProblem | None:
    """The board's problem as it is now; None if the board isn't for the viewer."""
    try:
        return await services.boards.problem(user, submission.board)
    except NotFound:
        return None


async def _sharing(
    services: Services, user: User, submission: Submission, problem: BoardProblem | None
) -> dict[str, Any]:
    """What the template says of the link by which its author shows it."""
    board = problem.leaderboard if problem else None
    is_public = board is not None and board.visibility is Visibility.PUBLIC
    mine = submission.author_id == user.id
    shareable = mine and is_public and is_result(submission)
    return {
        "shareable": shareable,
        "link": await services.sharing.link(user, submission.id) if mine else None,
        "code_opens": code_from(board.deadline, datetime.now(UTC)) if board else None,
    }


async def _code_shown(
    texts: Texts, submission: Submission, problem: BoardProblem | None, *, asker: int
) -> dict[str, Any]:
    """What the template says of the code, with the errors at their lines."""
    code = submission.code
    if code is None:
        return {"source": None, "cut": False, "places": ()}
    names = {submission.file_name, *([problem.submission_name] if problem else [])}
    said = (run.result or run.message or "" for run in submission.runs)
    places = error_positions(said, code, frozenset(names))
    shown = documents.excerpt(code, _SHOWN_CODE_CHARACTERS)
    remarks: dict[int, list[str]] = {}
    for place in places:
        remarks.setdefault(place.line, []).append(place.message)
    source = await documents.source(
        texts, shown, submission.file_name, asker=asker, remarks=remarks
    )
    return {"source": source, "cut": len(shown) < len(code), "places": places}


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
    return await services.submission_lists.own(
        user, board=submission.board, limit=_EARLIER, before_id=submission.id
    )


@router.get("/{submission_id}/live")
async def follow(
    page: PersonPage, settings: SettingsDep, submission_id: SubmissionId
) -> EventStream:
    """Server-sent events: `state` with all that the page shows of the judging, after each step and
    each change of its place in the queue; `end`. A stream begins with all that has happened."""
    ask = page.services.submissions
    snapshot = await ask.snapshot(page.user, submission_id)
    again = partial(page.services.users.authenticate, page.session.token, TokenKind.SESSION)
    progress = SubmissionProgress(snapshot.row, snapshot.runs, snapshot.queue)

    def frame_of(event: SubmissionEvent) -> str:
        return _frame(progress) if progress.add(event) else ""

    def queue_frame_of(queued: DeviceQueuePosition) -> str:
        progress.waits_at(queued)
        return _frame(progress)

    frames = stream(
        await ask.follow(page.user, submission_id, again=again, ask_again_s=settings.ask_again_s),
        partial(ask.queue_position, submission_id),
        heartbeat_s=settings.heartbeat_s,
        queue_s=settings.queue_s,
        frame_of=frame_of,
        queue_frame_of=queue_frame_of,
    )
    headers = {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventStream(frames, headers=headers)


def _frame(progress: SubmissionProgress) -> str:
    return f"event: state\ndata: {to_json(LiveState, progress.state).decode()}\n\n"


@router.post("/{submission_id}/cancel")
async def cancel(page: PostedPage, submission_id: SubmissionId) -> Response:
    await page.services.submissions.cancel(page.user, submission_id)
    return go(f"/submission/{submission_id}")


@router.get("/{submission_id}/code")
async def download_code(page: PersonPage, submission_id: SubmissionId) -> Response:
    submission = await page.services.submissions.get(page.user, submission_id)
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
    page: PersonPage,
    texts: TextsDep,
    submission_id: SubmissionId,
    before: Annotated[int, Query(ge=1, le=BIGINT_MAX)],
) -> Response:
    """What changed since another one, both of which the visitor may read."""
    ask = page.services.submissions
    older = await ask.get(page.user, before)
    newer = await ask.get(page.user, submission_id)
    lines = await texts.compared(_code(older), _code(newer), asker=page.user.id)
    shown = None if lines is None else diff_lines(lines)
    return page("diff.html", older=older, newer=newer, lines=shown)


def _code(submission: Submission) -> str:
    if submission.code is None:
        raise NotAllowed(f"The code of submission {submission.id} isn't for you.")
    return submission.code


@router.get("/{submission_id}/file/{run_id}/{name}")
async def download_artifact(
    page: PersonPage,
    submission_id: SubmissionId,
    run_id: Annotated[int, Path(ge=1, le=BIGINT_MAX)],
    name: Annotated[str, Path(max_length=MAX_NAME)],
) -> Response:
    if name != safe_name(name):
        raise NotFound(f"Submission {submission_id} has no such file.")
    file, content = await page.services.artifacts.get(page.user, submission_id, run_id, name)
    headers = {**HEADERS, **as_attachment(file), "Cache-Control": "no-store"}
    return Response(content, media_type=media_type(file), headers=headers)
