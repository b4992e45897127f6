"""Reviews: what is held, and the decisions of organisers."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import Limit, ServicesDep, SubmissionId, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.schemas.common import NAME_MAX
from kernelbot.submissions.answers import HeldList
from kernelbot.submissions.model import SubmissionView
from kernelbot.submissions.schemas import Decision

router = APIRouter(tags=["reviews"])


@router.get("/reviews", responses=documented(401, 422, 503))
async def list_held(
    services: ServicesDep,
    viewer: Viewer,
    board: Annotated[str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")] = None,
    limit: Limit = PAGE_ROWS,
) -> HeldList:
    """Submissions that wait for the asker's decision: those to boards they made, or for an admin
    to any."""
    held = await services.reviews.held(viewer, board=board, limit=limit)
    return HeldList(submissions=list(held))


@router.post(
    "/submissions/{submission_id}/release",
    responses=documented(400, 401, 403, 404, 409, 413, 422, 503),
)
async def release_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId, body: Decision
) -> SubmissionView:
    """Let a held or refused submission be ranked. For the board's organisers."""
    return await services.reviews.release(viewer, submission_id, body.reason)


@router.post(
    "/submissions/{submission_id}/refuse",
    responses=documented(400, 401, 403, 404, 409, 413, 422, 503),
)
async def refuse_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId, body: Decision
) -> SubmissionView:
    """Keep a submission from the ranking. Its author reads the reason; so does the audit log."""
    return await services.reviews.refuse(viewer, submission_id, body.reason)
