"""Boards, devices, rankings and queues, as anybody may read them."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Author, MaybeAuthor, account_number
from kernelbot.api.popcorn.models import BoardItem, Count, RankedEntry, RunnerQueue
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.api.popcorn.submit import queue_of
from kernelbot.domain.ids import BIGINT_MAX

router = APIRouter(tags=["popcorn"], route_class=PopcornRoute)

Offset = Annotated[int, Query(ge=0, le=BIGINT_MAX)]


@router.get("/leaderboards", responses=ERRORS)
async def popcorn_boards(services: ServicesDep, author: MaybeAuthor) -> list[BoardItem]:
    """The boards that the asker may see."""
    return [BoardItem.from_domain(board) for board in await services.boards.list_boards(author)]


@router.get("/gpus/{board}", responses=ERRORS)
async def popcorn_devices(services: ServicesDep, author: Author, board: str) -> list[str]:
    """The devices that a board offers."""
    return list((await services.boards.get(author, board)).devices)


@router.get("/runner_queue/{device}", responses=ERRORS)
async def popcorn_queue(services: ServicesDep, device: str) -> RunnerQueue:
    """How busy a device is. Unknown: an answer that says so, never an error."""
    return await queue_of(services, device)


@router.get("/submissions/{board}/{device}", responses=ERRORS)
async def popcorn_ranking(
    services: ServicesDep,
    author: MaybeAuthor,
    board: str,
    device: str,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    offset: Offset = 0,
) -> list[RankedEntry]:
    """The ranking: every author's best, fastest first."""
    page = await services.standings.page(author, board, device, limit=limit, offset=offset)
    return [RankedEntry.from_standing(page, row) for row in page.standings]


@router.get("/submission_count/{board}/{device}", responses=ERRORS)
async def popcorn_count(
    services: ServicesDep,
    author: MaybeAuthor,
    board: str,
    device: str,
    user_id: str | None = None,
) -> Count:
    """How many rows the ranking has; with `user_id`, how many of their submissions count."""
    if user_id is None:
        return Count(count=await services.standings.count(author, board, device))
    # An id that isn't a number belongs to nobody, so nothing was submitted.
    number = account_number(user_id) or 0
    return Count(count=await services.standings.count(author, board, device, author_id=number))
