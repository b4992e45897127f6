"""A board's duels."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from kernelbot.api.dependencies import BoardName, ServicesDep
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.web.pages import PageDep

router = APIRouter(prefix="/board", include_in_schema=False)

_ROWS = 50


@router.get("/{board}/duels")
async def show_duels(
    services: ServicesDep,
    page: PageDep,
    board: BoardName,
    before_id: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> Response:
    """The newest first, on all of its devices."""
    viewer = page.session.user if page.session else None
    found = await services.boards.get(viewer, board)
    duels = await services.duels.list_duels(viewer, board, limit=_ROWS, before_id=before_id)
    return page(
        "duels.html",
        tab="duels",
        board=found,
        duels=duels,
        before_id=before_id,
        next_before_id=duels[-1].id if len(duels) == _ROWS else None,
    )
