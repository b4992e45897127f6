"""Rejudging: measuring a board's best again."""

from fastapi import APIRouter

from kernelbot.api.dependencies import BoardName, ServicesDep, SubmissionId, Viewer
from kernelbot.api.errors import documented
from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.moderation.rejudges.schemas import NewRejudge

router = APIRouter(prefix="/boards/{board}/rejudges", tags=["boards"])


@router.post("", status_code=201, responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def rejudge_board(
    services: ServicesDep, viewer: Viewer, board: BoardName, body: NewRejudge
) -> Rejudge:
    """Measure the best again on one device, before everything else that waits. For the board's
    organisers; the ranking changes when the last of them has ended."""
    return await services.rejudging.start(viewer, board, device=body.device, top=body.top)


@router.delete("/{rejudge_id}", responses=documented(401, 403, 404, 409, 422, 503))
async def end_rejudge(
    services: ServicesDep, viewer: Viewer, board: BoardName, rejudge_id: SubmissionId
) -> Rejudge:
    """End the rejudge before its time: what it measured is dropped, the ranking stays as it is."""
    return await services.rejudging.end(viewer, board, rejudge_id)


@router.get("/{rejudge_id}", responses=documented(401, 403, 404, 422, 503))
async def show_rejudge(
    services: ServicesDep, viewer: Viewer, board: BoardName, rejudge_id: SubmissionId
) -> Rejudge:
    """How far the rejudge is, and the scores before and after."""
    return await services.rejudging.get(viewer, board, rejudge_id)
