"""Invites to closed boards, and rate limits."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from kernelbot.api.dependencies import PUBLIC, BoardName, MaybeViewer, ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.boards.invites.answers import InviteList, JoinedView, RevokedInvite
from kernelbot.boards.invites.model import NewInvites
from kernelbot.boards.invites.schemas import JoinRequest, NewInviteRequest
from kernelbot.boards.limits.answers import LimitList
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.limits.schemas import NewLimit

router = APIRouter(tags=["invites and limits"])

Code = Annotated[str, Path(max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]


@router.post("/invites", status_code=201, responses=documented(400, 401, 403, 404, 413, 422, 503))
async def create_invites(
    services: ServicesDep, viewer: Viewer, body: NewInviteRequest
) -> NewInvites:
    """Make up to 10,000 invites at once, each for all of the boards. For their organisers."""
    return await services.invites.create(viewer, body.boards, body.count)


@router.delete("/invites/{code}", responses=documented(401, 403, 404, 422, 503))
async def revoke_invite(services: ServicesDep, viewer: Viewer, code: Code) -> RevokedInvite:
    """Revoke an invite; who claimed it is no longer a member."""
    return RevokedInvite(was_claimed=await services.invites.revoke(viewer, code))


@router.post("/invites/join", responses=documented(400, 401, 403, 413, 422, 503))
async def join(services: ServicesDep, viewer: Viewer, body: JoinRequest) -> JoinedView:
    """Claim an invite. Repeated by the same person, the answer is the same."""
    return JoinedView(boards=list(await services.invites.join(viewer, body.code)))


@router.get("/boards/{board}/invites", responses=documented(401, 403, 404, 422, 503))
async def list_invites(
    services: ServicesDep,
    viewer: Viewer,
    board: BoardName,
    unclaimed: bool = False,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> InviteList:
    """A board's invites, the newest first, without the codes of those that also open boards of
    others. For its organisers."""
    found = await services.invites.list_invites(
        viewer, board, unclaimed=unclaimed, limit=limit, offset=offset
    )
    return InviteList(invites=found)


@router.get(
    "/boards/{board}/limits", responses=documented(401, 404, 422, 503), openapi_extra=PUBLIC
)
async def list_limits(services: ServicesDep, viewer: MaybeViewer, board: BoardName) -> LimitList:
    """How many submissions each author may make within an hour."""
    return LimitList(limits=await services.limits.list_limits(viewer, board))


@router.put(
    "/boards/{board}/limits/{category}", responses=documented(400, 401, 403, 404, 413, 422, 503)
)
async def set_limit(
    services: ServicesDep, viewer: Viewer, board: BoardName, category: LimitCategory, body: NewLimit
) -> RateLimit:
    """Set a limit. For the board's organisers."""
    return await services.limits.set(viewer, board, RateLimit(category, body.max_per_hour))


@router.delete(
    "/boards/{board}/limits/{category}",
    status_code=204,
    responses=documented(401, 403, 404, 422, 503),
)
async def remove_limit(
    services: ServicesDep, viewer: Viewer, board: BoardName, category: LimitCategory
) -> None:
    """Remove a limit. For the board's organisers."""
    await services.limits.remove(viewer, board, category)
