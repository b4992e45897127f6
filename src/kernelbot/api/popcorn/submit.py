"""Submitting: in the background, as a stream, and late by an organiser."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Path, UploadFile
from fastapi.responses import StreamingResponse

from kernelbot.accounts.model import User
from kernelbot.api.departures import PostedEventStream
from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.api.popcorn.auth import Author, AuthorAgain, Organiser
from kernelbot.api.popcorn.models import Accepted, AcceptedDetails, RunnerQueue
from kernelbot.api.popcorn.routing import ERRORS, BoardRoute, PopcornRoute
from kernelbot.api.popcorn.stream import stopped, stream
from kernelbot.api.uploads import file_name
from kernelbot.domain.errors import UserError
from kernelbot.protocol import Mode
from kernelbot.services import Services
from kernelbot.submissions.model import NewSubmission

router = APIRouter(tags=["popcorn"], route_class=PopcornRoute)
streaming = APIRouter(tags=["popcorn"], route_class=BoardRoute)
"""Last of all routers: its path has the shape of many others'."""

Upload = Annotated[UploadFile, File(description="The source, UTF-8, at most 1 MiB.")]
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


async def checked_mode(mode: Annotated[str, Path()]) -> Mode:
    """The mode, in upper or lower case. Raises `UserError`, which lists the modes."""
    try:
        return Mode(mode.lower())
    except ValueError:
        known = ", ".join(Mode)
        raise UserError(f"There is no mode {mode!r}.", hint=f"Modes: {known}.") from None


AMode = Annotated[Mode, Depends(checked_mode)]


@router.post("/submission/{board}/{device}/{mode}", status_code=202, responses=ERRORS)
async def popcorn_submit(
    services: ServicesDep, author: Author, mode: AMode, board: str, device: str, file: Upload
) -> Accepted:
    """Store a submission, to be judged in the background; poll `/user/submissions/{id}`."""
    return await _accept(services, author, board, device, mode, file)


@router.post("/admin/submission/{board}/{device}/{mode}", status_code=202, responses=ERRORS)
async def popcorn_submit_late(
    services: ServicesDep,
    organiser: Organiser,
    author: Author,
    mode: AMode,
    board: str,
    device: str,
    file: Upload,
) -> Accepted:
    """Submit as the author, allowed by the organiser although the deadline may have passed."""
    return await _accept(services, author, board, device, mode, file, late_by=organiser)


@streaming.post(
    "/{board}/{device}/{mode}", response_class=StreamingResponse, responses={**ERRORS, **_STREAM}
)
async def popcorn_submit_and_follow(
    services: ServicesDep,
    settings: SettingsDep,
    author: Author,
    again: AuthorAgain,
    mode: AMode,
    board: str,
    device: str,
    file: Upload,
) -> StreamingResponse:
    """Store a submission and follow it: `status` events, then one `result` or `error`. The
    submission is judged even if the client disconnects."""
    new = await _read(board, device, mode, file)
    submission = await services.submissions.submit(author, new)
    return PostedEventStream(
        stream(
            submission,
            services.submissions.events(author, submission.id, again=again),
            lambda: services.submissions.get(author, submission.id, files=True),
            heartbeat_s=settings.heartbeat_s,
        ),
        farewell=stopped(submission),
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _read(board: str, device: str, mode: Mode, file: UploadFile) -> NewSubmission:
    return NewSubmission(
        board=board,
        devices=(device,),
        mode=mode,
        file_name=file_name(file),
        content=await file.read(),
    )


async def _accept(
    services: Services,
    author: User,
    board: str,
    device: str,
    mode: Mode,
    file: UploadFile,
    *,
    late_by: User | None = None,
) -> Accepted:
    new = await _read(board, device, mode, file)
    submission = await services.submissions.submit(author, new, late_by=late_by)
    return Accepted(
        details=AcceptedDetails(id=submission.id, job_status_id=submission.id),
        runner_queue=await queue_of(services, device),
    )


async def queue_of(services: Services, device: str) -> RunnerQueue:
    """How busy a device is; for an unknown one an answer that says so."""
    known = {status.name.lower(): status for status in await services.devices.list_devices()}
    return RunnerQueue.from_domain(device, known.get(device.lower()))
