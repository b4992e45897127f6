"""Boards: list, create, show, statement, standings."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kernelbot.api.dependencies import (
    PUBLIC,
    BoardName,
    CreatorsFirst,
    Limit,
    MaybeViewer,
    ServicesDep,
    Viewer,
    answers_of,
)
from kernelbot.api.downloads import standings_answer
from kernelbot.api.errors import documented
from kernelbot.api.known import KnownFirst, known_by
from kernelbot.api.known_rankings import keep_standings, known_standings, stamp_before
from kernelbot.boards.answers import BoardList
from kernelbot.boards.model import NamedBoard, Statement, Visibility
from kernelbot.boards.schemas import BoardChange, NewBoard
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.ranking.model import StandingsPage
from kernelbot.schemas.common import NAME_MAX
from kernelbot.schemas.values import to_json

router = APIRouter(prefix="/boards", tags=["boards"], route_class=KnownFirst)
making = APIRouter(prefix="/boards", tags=["boards"], route_class=CreatorsFirst)


@router.get("", responses=documented(401, 503), openapi_extra=PUBLIC)
async def list_boards(services: ServicesDep, viewer: MaybeViewer) -> BoardList:
    """Every board the asker may see; without a token, the public ones."""
    found = await services.boards.list_boards(viewer)
    return BoardList(boards=list(await services.summaries.all_described(found)))


@making.post("", status_code=201, responses=documented(400, 401, 403, 409, 413, 422, 503))
async def create_board(services: ServicesDep, viewer: Viewer, body: NewBoard) -> NamedBoard:
    """Make a board from a problem. For creators and admins."""
    created = await services.boards.create(
        viewer,
        body.definition(),
        name=body.name,
        deadline=body.deadline,
        visibility=body.visibility,
        devices=body.devices,
    )
    return await services.summaries.described(created)


@router.get("/{board}", responses=documented(401, 403, 404, 422, 503), openapi_extra=PUBLIC)
async def show_board(services: ServicesDep, viewer: MaybeViewer, board: BoardName) -> NamedBoard:
    """One board; names are matched without regard to case."""
    found = await services.boards.get(viewer, board)
    return await services.summaries.described(found)


@router.patch("/{board}", responses=documented(400, 401, 403, 404, 413, 422, 503))
async def change_board(
    services: ServicesDep, viewer: Viewer, board: BoardName, body: BoardChange
) -> NamedBoard:
    """Change visibility, deadline, whether code is shown after it, whether secret runs share a
    seed, whether submissions for a device that takes no jobs are refused, or whether tests are
    taken for processors as well; what the body leaves out stays. For its organisers."""
    edit = BoardEdit(**vars(body))
    edited = await services.boards.edit(viewer, board, edit)
    return await services.summaries.described(edited)


@router.get("/{board}/problem", responses=documented(401, 403, 404, 422, 503), openapi_extra=PUBLIC)
async def show_problem(services: ServicesDep, viewer: MaybeViewer, board: BoardName) -> Statement:
    """A board's statement and starter files. Never its tests, reference or seeds."""
    return await services.boards.problem(viewer, board)


Device = Annotated[
    str | None,
    Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$", description="Default: the first."),
]


@router.get(
    "/{board}/standings.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}}, **documented(400, 401, 403, 404, 422, 503)},
    openapi_extra=PUBLIC,
)
async def standings_file(
    services: ServicesDep,
    viewer: MaybeViewer,
    board: BoardName,
    device: Device = None,
    offset: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
) -> Response:
    """The whole ranking on one device as CSV; of more than 10,000 authors the next ones with
    `offset`."""
    found = await services.standings.table(viewer, board, device, offset=offset)
    return await standings_answer(found)


@router.get(
    "/{board}/standings",
    response_model=StandingsPage,
    responses=documented(400, 401, 403, 404, 422, 503),
    openapi_extra=PUBLIC,
)
@known_by(known_standings)
async def show_standings(
    request: Request,
    services: ServicesDep,
    viewer: MaybeViewer,
    board: BoardName,
    device: Device = None,
    limit: Limit = PAGE_ROWS,
    offset: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
) -> Response:
    """The ranking on one device: every author's best, fastest first."""
    stamp = await stamp_before(request) if viewer else None
    ranking = await services.standings.ranking(viewer, board, device)
    answers = answers_of(request).standings
    key = (ranking.board.id, ranking.device, limit, offset)
    answer = answers.get(key, ranking)
    if answer is None:
        page = await services.standings.page_of(ranking, limit=limit, offset=offset)
        answer = to_json(StandingsPage, page)
        answers.keep(key, ranking, answer)
    if viewer and ranking.board.visibility is Visibility.PUBLIC:
        keep_standings(request, stamp, answer)
    return Response(answer, media_type="application/json")
