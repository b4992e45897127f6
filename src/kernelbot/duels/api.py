"""Duels of a board."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import (
    PUBLIC,
    BoardName,
    Limit,
    MaybeViewer,
    ServicesDep,
    SubmissionId,
    Viewer,
)
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.duels.model import Duel
from kernelbot.duels.schemas import DuelList, DuelSamples
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(prefix="/boards/{board}/duels", tags=["boards"])
_Id = Annotated[int | None, Query(ge=1, le=BIGINT_MAX)]


@router.get("", responses=documented(400, 401, 403, 404, 422, 503), openapi_extra=PUBLIC)
async def list_duels(
    services: ServicesDep,
    viewer: MaybeViewer,
    board: BoardName,
    device: Annotated[
        str | None,
        Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$", description="Default: all."),
    ] = None,
    submission_id: _Id = None,
    limit: Limit = PAGE_ROWS,
    before_id: _Id = None,
) -> DuelList:
    """Duels between the board's submissions, the newest first: those that wait, and what the others
    showed. With `submission_id` only those that it was in."""
    found = await services.duels.list_duels(
        viewer, board, device=device, submission_id=submission_id, limit=limit, before_id=before_id
    )
    return DuelList(duels=found, next_before_id=found[-1].id if len(found) == limit else None)


@router.get("/{duel_id}", responses=documented(401, 403, 404, 422, 503), openapi_extra=PUBLIC)
async def show_duel(
    services: ServicesDep, viewer: MaybeViewer, board: BoardName, duel_id: SubmissionId
) -> Duel:
    """One duel."""
    return await services.duels.get(viewer, board, duel_id)


@router.get("/{duel_id}/samples", responses=documented(401, 403, 404, 422, 503))
async def show_duel_samples(
    services: ServicesDep, viewer: Viewer, board: BoardName, duel_id: SubmissionId
) -> DuelSamples:
    """Every pair of calls, and the ratio by workload; for those who may see both submissions."""
    found = await services.duels.measured(viewer, board, duel_id)
    return DuelSamples(duel_id=duel_id, workloads=found)
