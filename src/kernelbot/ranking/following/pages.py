"""`GET /following`: what is new on boards and of authors that a person follows, and the forms."""

from fastapi import APIRouter, Response

from kernelbot.api.dependencies import BoardName, UserId
from kernelbot.web.pages import PersonPage, PostedPage, go
from kernelbot.web.paths import author_path, board_path

router = APIRouter(include_in_schema=False)


@router.get("/following")
async def show_following(page: PersonPage) -> Response:
    """The latest records and scores there, and the list."""
    return page("following.html", following=await page.services.following.get(page.user))


@router.post("/board/{board}/follow")
async def follow_board(page: PostedPage, board: BoardName) -> Response:
    await page.services.following.follow_board(page.user, board)
    return go(board_path(board))


@router.post("/board/{board}/unfollow")
async def unfollow_board(page: PostedPage, board: BoardName) -> Response:
    await page.services.following.unfollow_board(page.user, board)
    return go(board_path(board))


@router.post("/author/{author_id}/follow")
async def follow_author(page: PostedPage, author_id: UserId) -> Response:
    await page.services.following.follow_author(page.user, author_id)
    return go(author_path(author_id))


@router.post("/author/{author_id}/unfollow")
async def unfollow_author(page: PostedPage, author_id: UserId) -> Response:
    await page.services.following.unfollow_author(page.user, author_id)
    return go("/following")
