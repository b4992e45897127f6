"""Rejudging a board's best, how far it is, and ending it."""

from fastapi import APIRouter, Response

from kernelbot.api.dependencies import BoardName, SubmissionId
from kernelbot.domain.errors import UserError
from kernelbot.web.organisers import HOME, OrganiserPage, Typed, filled
from kernelbot.web.pages import PostedPage, go
from kernelbot.web.paths import organised_path

router = APIRouter(prefix=f"{HOME}/board/{{board}}/rejudges", include_in_schema=False)


@router.get("")
async def list_rejudges(page: OrganiserPage, board: BoardName) -> Response:
    """The board's latest rejudges, and a form for the next."""
    found = await page.services.boards.get_organised(page.user, board)
    return page(
        "organise/rejudges.html",
        tab="boards",
        board=found,
        rejudges=await page.services.rejudging.list_rejudges(page.user, found.name),
    )


@router.post("")
async def rejudge(
    page: PostedPage, board: BoardName, device: Typed = "", top: Typed = ""
) -> Response:
    started = await page.services.rejudging.start(
        page.user, board, device=filled(device), top=_number(top)
    )
    return go(f"{organised_path(started.board)}/rejudges/{started.id}")


@router.get("/{rejudge_id}")
async def show_rejudge(page: OrganiserPage, board: BoardName, rejudge_id: SubmissionId) -> Response:
    """How far it is, and the scores before and after."""
    found = await page.services.boards.get_organised(page.user, board)
    rejudge = await page.services.rejudging.get(page.user, found.name, rejudge_id)
    return page("organise/rejudge.html", tab="boards", board=found, rejudge=rejudge)


@router.post("/{rejudge_id}/end")
async def end_rejudge(page: PostedPage, board: BoardName, rejudge_id: SubmissionId) -> Response:
    """End a rejudge before its time; its page says that nothing of it counts."""
    ended = await page.services.rejudging.end(page.user, board, rejudge_id)
    return go(f"{organised_path(ended.board)}/rejudges/{ended.id}")


def _number(text: str) -> int | None:
    """An empty field is all of them. Raises `UserError`."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise UserError(f"{text!r} isn't a number of submissions.", hint="Write 1 or more.")
    return int(text)
