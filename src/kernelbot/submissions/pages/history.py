"""A person's own submissions, the newest first, and the way to their progress."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from kernelbot.boards.pages.board import DeviceQuery as BoardQuery
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.web.pages import PersonPage

router = APIRouter(include_in_schema=False)

ROWS = 50


@router.get("/submissions")
async def show_history(
    page: PersonPage,
    board: BoardQuery = None,
    before_id: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> Response:
    """The visitor's own, of one board or of all; `before_id` continues."""
    found = await page.services.submission_lists.own(
        page.user, board=board, limit=ROWS, before_id=before_id
    )
    return page(
        "history.html",
        submissions=found,
        board=board,
        boards=sorted({one.board for one in found}),
        before_id=before_id,
        next_before_id=found[-1].id if len(found) == ROWS else None,
    )
