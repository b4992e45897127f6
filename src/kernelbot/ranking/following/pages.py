"""`GET /following`: what is new on boards and of authors that a person follows, and the forms."""

from fastapi import APIRouter, Response

from kernelbot.api.dependencies import BoardName, ServicesDep, UserId
from kernelbot.web.pages import PageDep, go
from kernelbot.web.paths import author_path, board_path
from kernelbot.web.session import NeededSession, PostedSession

router = APIRouter(include_in_schema=False)


@router.get("/following")
async def show_following(services: ServicesDep, session: NeededSession, page: PageDep) -> Response:
    """The latest records and scores there, and the list."""
    return page("following.html", following=await services.following.get(session.user))


@router.post("/board/{board}/follow")
async def follow_board(services: ServicesDep, session: PostedSession, board: BoardName) -> Response:
    await services.following.follow_board(session.user, board)
    return go(board_path(board))


@router.post("/board/{board}/unfollow")
async def unfollow_board(
    services: ServicesDep, session: PostedSession, board: BoardName
) -> Response:
    """Follow a board no longer."""
    await services.following.unfollow_board(session.user, board)
    return go(board_path(board))


@router.post("/author/{author_id}/follow")
async def follow_author(
    services: ServicesDep, session: PostedSession, author_id: UserId
) -> Response:
    await services.following.follow_author(session.user, author_id)
    return go(author_path(author_id))


@router.post("/author/{author_id}/unfollow")
async def unfollow_author(
    services: ServicesDep, session: PostedSession, author_id: UserId
) -> Response:
    """Follow an author no longer."""
    await services.following.unfollow_author(session.user, author_id)
    return go("/following")
