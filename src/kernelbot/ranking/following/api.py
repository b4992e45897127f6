"""What the asker follows, for programs."""

from fastapi import APIRouter

from kernelbot.api.dependencies import BoardName, ServicesDep, UserId, Viewer
from kernelbot.api.errors import documented
from kernelbot.ranking.following.model import Following

router = APIRouter(prefix="/following", tags=["authors"])


@router.get("", responses=documented(401, 503))
async def show_following(services: ServicesDep, viewer: Viewer) -> Following:
    """The boards and authors that the asker follows, and the latest 50 records and scores there."""
    return await services.following.get(viewer)


@router.put("/boards/{board}", status_code=204, responses=documented(401, 404, 409, 422, 503))
async def follow_board(services: ServicesDep, viewer: Viewer, board: BoardName) -> None:
    """Follow a board: its records are news."""
    await services.following.follow_board(viewer, board)


@router.delete("/boards/{board}", status_code=204, responses=documented(401, 404, 422, 503))
async def unfollow_board(services: ServicesDep, viewer: Viewer, board: BoardName) -> None:
    """Follow a board no longer."""
    await services.following.unfollow_board(viewer, board)


@router.put("/authors/{author_id}", status_code=204, responses=documented(401, 404, 409, 422, 503))
async def follow_author(services: ServicesDep, viewer: Viewer, author_id: UserId) -> None:
    """Follow an author: their scores that count are news."""
    await services.following.follow_author(viewer, author_id)


@router.delete("/authors/{author_id}", status_code=204, responses=documented(401, 422, 503))
async def unfollow_author(services: ServicesDep, viewer: Viewer, author_id: UserId) -> None:
    """Follow an author no longer."""
    await services.following.unfollow_author(viewer, author_id)
