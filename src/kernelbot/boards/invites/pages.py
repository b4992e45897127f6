"""The invites of a closed board."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response

from kernelbot.api.dependencies import BoardName
from kernelbot.boards.invites.service import MAX_COUNT
from kernelbot.runs.files import safe_name
from kernelbot.web.organisers import HOME, Done, OrganiserPage, Typed
from kernelbot.web.pages import HEADERS, PostedPage, go
from kernelbot.web.paths import organised_path

router = APIRouter(prefix=f"{HOME}/board/{{board}}", include_in_schema=False)

ROWS = 100
_KEY = r"[A-Za-z0-9_-]{43}"


@router.get("/invites")
async def show_invites(
    page: OrganiserPage,
    board: BoardName,
    unclaimed: bool = False,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    done: Done = "",
) -> Response:
    """The board's invites, the newest first. The form holds a key, so that sending it twice makes
    its invites once."""
    found = await page.services.boards.get_organised(page.user, board)
    invites = await page.services.invites.list_invites(
        page.user, found.name, unclaimed=unclaimed, limit=ROWS + 1, offset=offset
    )
    return page(
        "organise/invites.html",
        tab="boards",
        done=done,
        board=found,
        invites=invites[:ROWS],
        more=len(invites) > ROWS,
        unclaimed=unclaimed,
        offset=offset,
        limit=ROWS,
        max_count=MAX_COUNT,
        key=secrets.token_urlsafe(),
    )


@router.get("/invites.txt")
async def download_invites(page: OrganiserPage, board: BoardName) -> Response:
    """The codes that nobody has claimed, one a line."""
    invites = await page.services.invites.list_invites(page.user, board, unclaimed=True)
    text = "".join(f"{invite.code}\n" for invite in invites if invite.code is not None)
    headers = {
        **HEADERS,
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{safe_name(f"invites-{board}.txt")}"',
    }
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


@router.post("/invites")
async def create_invites(
    page: PostedPage,
    board: BoardName,
    key: Annotated[str, Form(pattern=f"^{_KEY}$")],
    count: Annotated[int, Form()] = 1,
) -> Response:
    made = await page.services.invites.create(page.user, (board,), count, key=key)
    return go(f"{organised_path(made.boards[0])}/invites?done=invited")


@router.post("/invites/revoke")
async def revoke_invite(page: PostedPage, board: BoardName, code: Typed = "") -> Response:
    """Revoke an invite: who claimed it is no longer a member."""
    await page.services.invites.revoke(page.user, code)
    return go(f"{organised_path(board)}/invites?done=revoked")
