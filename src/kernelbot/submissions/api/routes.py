"""Submissions: make, read, list, cancel, follow."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Header, Path, Query, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from kernelbot.api.answers import MAX_KEPT_BYTES
from kernelbot.api.departures import EventStream
from kernelbot.api.dependencies import (
    Limit,
    ServicesDep,
    SettingsDep,
    SubmissionId,
    Viewer,
    ViewerAgain,
    answers_of,
)
from kernelbot.api.downloads import as_attachment, media_type
from kernelbot.api.errors import documented
from kernelbot.api.known import KnownFirst, known_by
from kernelbot.api.uploads import file_name
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.protocol import Mode
from kernelbot.runs.files import MAX_NAME
from kernelbot.runs.samples.schemas import SampleList
from kernelbot.schemas.common import NAME_MAX, Name
from kernelbot.schemas.values import to_json
from kernelbot.submissions.answers import SubmissionList
from kernelbot.submissions.api.events import stream
from kernelbot.submissions.api.known import (
    keep_page,
    keep_submission,
    known_page,
    known_submission,
)
from kernelbot.submissions.api.limits import with_limits
from kernelbot.submissions.api.listing import listed_json
from kernelbot.submissions.artifacts.schemas import ArtifactList
from kernelbot.submissions.lists import OwnPage
from kernelbot.submissions.model import NewSubmission, SubmissionView

router = APIRouter(prefix="/submissions", tags=["submissions"], route_class=KnownFirst)

_FIELD = {"type": "string"}
_FRAME = {
    "type": "object",
    "properties": {"id": _FIELD, "event": _FIELD, "data": _FIELD},
    "required": ["data"],
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": _FRAME}}}
}


@router.post("", status_code=201, responses=documented(400, 401, 403, 404, 409, 413, 422, 429, 503))
async def create_submission(
    services: ServicesDep,
    viewer: Viewer,
    file: Annotated[UploadFile, File(description="The source, UTF-8, at most 1 MiB.")],
    mode: Annotated[Mode, Form()] = Mode.LEADERBOARD,
    board: Annotated[Name | None, Form(description="Default: the file's directive.")] = None,
    device: Annotated[
        list[Name] | None,
        Form(description="Once per device. Default: the file's directive, or the only one."),
    ] = None,
    late: Annotated[bool, Form(description="Past the deadline, too. For admins.")] = False,
) -> SubmissionView:
    """Submit a file. What is answered with 201 is stored and will be judged."""
    new = NewSubmission(
        board=board,
        devices=tuple(device or ()),
        mode=mode,
        file_name=file_name(file),
        content=await file.read(),
    )
    created, _ = await services.submissions.create(viewer, new, late_by=viewer if late else None)
    return created


@router.get("", response_model=SubmissionList, responses=documented(401, 403, 404, 422, 503))
@known_by(known_page)
async def list_submissions(
    request: Request,
    services: ServicesDep,
    viewer: Viewer,
    board: Annotated[str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")] = None,
    limit: Limit = PAGE_ROWS,
    before_id: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
    everyone: Annotated[
        bool, Query(alias="all", description="Everybody's. For organisers of `board`, else admins.")
    ] = False,
    user: Annotated[
        str | None,
        Query(
            max_length=NAME_MAX,
            pattern=r"^[^\x00-\x1f\x7f]+$",
            description="This person's. For organisers of `board`; without it for admins.",
        ),
    ] = None,
) -> Response:
    """The asker's own submissions, the newest first; with `all` or `user` others'."""
    ask, answers = services.submission_lists, answers_of(request)
    page, stamp = OwnPage(board, limit, before_id), None
    is_own = not everyone and user is None
    if is_own:
        if answers.own_pages.has((viewer.id, request.scope["query_string"])):
            stamp = await ask.stamp(viewer, page)
        found = await ask.page_of_own(viewer, board=board, limit=limit, before_id=before_id)
    else:
        found = await ask.page_of_others(
            viewer, board=board, user=user, limit=limit, before_id=before_id
        )
    entries = await listed_json(ask, found, answers.listed)
    last = found[-1].id if len(found) == limit else None
    answer = SubmissionList.of_json(entries, last)
    if is_own and found:
        keep_page(request, page, viewer.id, stamp, answer)
    return Response(answer, media_type="application/json")


@router.get(
    "/{submission_id}", response_model=SubmissionView, responses=documented(401, 403, 404, 422, 503)
)
@known_by(known_submission)
async def show_submission(
    request: Request, services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> Response:
    """One submission with its code and its runs' results."""
    answers = answers_of(request).submissions
    again = answers.has((submission_id, False))
    snapshot = await services.submissions.snapshot(viewer, submission_id, stamped=again)
    comparisons = await services.outcomes.comparisons(viewer, snapshot)
    key, version = (submission_id, snapshot.secret), (snapshot, comparisons)
    answer = answers.get(key, version)
    if answer is None:
        submission = await services.submissions.whole(snapshot)
        limited = await with_limits(services, viewer, submission, comparisons)
        answer = to_json(SubmissionView, replace(submission, comparisons=limited))
        if len(answer) <= MAX_KEPT_BYTES:
            answers.keep(key, version, answer)
    else:
        keep_submission(request, snapshot, answer)
    return Response(answer, media_type="application/json")


@router.get("/{submission_id}/samples", responses=documented(401, 403, 404, 422, 503))
async def show_samples(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> SampleList:
    """Every sample of every measurement, rejudges' too, in the order they were taken."""
    found = await services.submissions.measured(viewer, submission_id)
    return SampleList(submission_id=submission_id, workloads=found)


@router.get("/{submission_id}/artifacts", responses=documented(401, 403, 404, 422, 503))
async def list_artifacts(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> ArtifactList:
    """The files that came out of its runs, without their contents."""
    found = await services.artifacts.list_artifacts(viewer, submission_id)
    return ArtifactList(submission_id=submission_id, artifacts=found)


@router.get(
    "/{submission_id}/artifacts/{run_id}/{name}",
    response_class=Response,
    responses={200: {"content": {"*/*": {}}}, **documented(401, 403, 404, 422, 503)},
)
async def download_artifact(
    services: ServicesDep,
    viewer: Viewer,
    submission_id: SubmissionId,
    run_id: Annotated[int, Path(ge=1, le=BIGINT_MAX)],
    name: Annotated[str, Path(max_length=MAX_NAME, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*$")],
) -> Response:
    """One of the files as the run left it, as a download."""
    file, content = await services.artifacts.get(viewer, submission_id, run_id, name)
    return Response(content, media_type=media_type(file), headers=as_attachment(file))


@router.post("/{submission_id}/cancel", responses=documented(401, 403, 404, 409, 422, 503))
async def cancel_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> SubmissionView:
    """Stop a submission that hasn't finished. Repeated, the answer is the same."""
    return await services.submissions.cancel(viewer, submission_id)


@router.get(
    "/{submission_id}/events",
    response_class=StreamingResponse,  # errors have another type than `EventStream`'s
    responses={**_STREAM, **documented(401, 403, 404, 422, 503)},
)
async def follow_submission(
    services: ServicesDep,
    settings: SettingsDep,
    viewer: Viewer,
    again: ViewerAgain,
    submission_id: SubmissionId,
    last_event_id: Annotated[
        int, Header(ge=0, le=BIGINT_MAX, description="Resume after this event.")
    ] = 0,
) -> EventStream:
    """Server-sent events: all that has happened, then all that happens, each with an `id` to
    resume from and an `Event` as data; `event: queue` with a `QueuePosition` as data
    whenever the place in the queue has changed; comments while it is quiet; after the
    submission's last event one `event: end`, and the stream closes. Whether the reader may see
    the submission is asked again meanwhile; once they may not, the stream closes without."""
    # Asked before the answer begins, since a stream that has begun can't turn into a 404.
    batches = await services.submissions.follow(
        viewer, submission_id, after=last_event_id, again=again, ask_again_s=settings.ask_again_s
    )
    return EventStream(
        stream(
            batches,
            partial(services.submissions.queue_position, submission_id),
            heartbeat_s=settings.heartbeat_s,
            queue_s=settings.queue_s,
        ),
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
