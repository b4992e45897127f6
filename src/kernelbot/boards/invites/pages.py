"""The invites of a closed board."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response

from kernelbot.api.dependencies import BoardName, ServicesDep
from kernelbot.boards.invites.service import MAX_COUNT
from kernelbot.runs.files import safe_name
from kernelbot.web.organisers import HOME, Done, Organiser, Typed
from kernelbot.web.pages import HEADERS, PageDep, go
from kernelbot.web.paths import organised_path
from kernelbot.web.session import PostedSession

router = APIRouter(prefix=f"{HOME}/board/{{board}}", include_in_schema=False)

ROWS = 100
_KEY = r"[A-Za-z0-9_-]{43}"


@router.get("/invites")
async def show_invites(
    services: ServicesDep,
    session: Organiser,
    page: PageDep,
    board: BoardName,
    unclaimed: bool = False,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    done: Done = "",
) -> Response:
    """The board's invites, the newest first. The form holds a key, so that sending it twice makes
    its invites once."""
    found = await services.boards.get_organised(session.user, board)
    invites = await services.invites.list_invites(
        session.user, found.name, unclaimed=unclaimed, limit=ROWS + 1, offset=offset
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
        key=secrets.token_urlsafe(32),
    )


@router.get("/invites.txt")
async def download_invites(services: ServicesDep, session: Organiser, board: BoardName) -> Response:
    """The codes that nobody has claimed, one a line."""
    invites = await services.invites.list_invites(session.user, board, unclaimed=True)
    text = "".join(f"{invite.code}\n" for invite in invites if invite.code is not None)
    headers = {
        **HEADERS,
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{safe_name(f"invites-{board}.txt")}"',
    }
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


@router.post("/invites")
async def create_invites(
    services: ServicesDep,
    session: PostedSession,
    board: BoardName,
    key: Annotated[str, Form(pattern=f"^{_KEY}$")],
    count: Annotated[int, Form()] = 1,
) -> Response:
    made = await services.invites.create(session.user, (board,), count, key=key)
    return go(f"{organised_path(made.boards[0])}/invites?done=invited")


@router.post("/invites/revoke")
async def revoke_invite(
    services: ServicesDep, session: PostedSession, board: BoardName, code: Typed = ""
) -> Response:
    """Revoke an invite: who claimed it is no longer a member."""
    await services.invites.revoke(session.user, code)
    return go(f"{organised_path(board)}/invites?done=revoked")
