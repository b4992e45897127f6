"""A board's duels."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName, SubmissionId
from kernelbot.domain.errors import NotAllowed
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.duels.service import Duels
from kernelbot.protocol import DuelWorkload
from kernelbot.render.duel import RATIO_HEADERS, RATIO_NUMBERS, how_measured, ratio_rows
from kernelbot.render.duels import NOT_BY_WORKLOAD
from kernelbot.web.pages import PageDep

router = APIRouter(prefix="/board", include_in_schema=False)

_ROWS = 50


@router.get("/{board}/duels")
async def show_duels(
    page: PageDep,
    board: BoardName,
    before_id: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> Response:
    """The newest first, on all of its devices."""
    viewer = page.viewer
    found = await page.services.boards.get(viewer, board)
    duels = await page.services.duels.list_duels(viewer, board, limit=_ROWS, before_id=before_id)
    return page(
        "duels.html",
        tab="duels",
        board=await page.services.summaries.described(found),
        duels=duels,
        before_id=before_id,
        next_before_id=duels[-1].id if len(duels) == _ROWS else None,
    )


@router.get("/{board}/duels/{duel_id}")
async def show_duel(page: PageDep, board: BoardName, duel_id: SubmissionId) -> Response:
    """One duel; by workload for those who may see both submissions."""
    viewer = page.viewer
    duel = await page.services.duels.get(viewer, board, duel_id)
    found = await page.services.boards.get(viewer, board)
    workloads = await _workloads(page.services.duels, viewer, board, duel_id)
    return page(
        "duel.html",
        tab="duels",
        board=await page.services.summaries.described(found),
        duel=duel,
        headers=RATIO_HEADERS,
        numbers=RATIO_NUMBERS,
        rows=ratio_rows(workloads),
        how=how_measured(workloads),
        unshown=NOT_BY_WORKLOAD,
    )


async def _workloads(
    duels: Duels, viewer: User | None, board: str, duel_id: int
) -> Sequence[DuelWorkload]:
    """Empty if nothing was measured, or it isn't for the viewer."""
    if viewer is None:
        return ()
    try:
        return [load.named for load in await duels.measured(viewer, board, duel_id)]
    except NotAllowed:
        return ()
