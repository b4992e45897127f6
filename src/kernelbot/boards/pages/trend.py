"""What the chart of a board's trend is drawn of in the browser."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName
from kernelbot.boards.pages.board import AuthorsQuery, DeviceQuery
from kernelbot.boards.pages.charts import HEADERS
from kernelbot.boards.pages.code_beside import may_read_all
from kernelbot.ranking.model import Score
from kernelbot.ranking.service import RankingVersion
from kernelbot.render.text import one_line
from kernelbot.schemas.common import NAME_MAX
from kernelbot.web.pages import PageDep

router = APIRouter(prefix="/board", include_in_schema=False)


@router.get("/{board}/trend.json")
async def trend_data(
    page: PageDep, board: BoardName, device: DeviceQuery = None, author: AuthorsQuery = None
) -> Response:
    """The numbers of the chart: the record, and the scores of each author that was asked for."""
    viewer = page.viewer
    ranking, trend = await page.services.trends.for_board(viewer, board, device, author or ())
    record = _line("record", trend.records, viewer, ranking)
    authors = [_line(name, scores, viewer, ranking) for name, scores in trend.chosen.items()]
    return JSONResponse({"record": record, "authors": authors}, headers=HEADERS)


def _line(
    name: str, scores: Iterable[Score], viewer: User | None, ranking: RankingVersion
) -> dict[str, object]:
    """Scores in the order of submitting, under a name. `at_s`: seconds since 1970. `page`: of the
    submission; None if it isn't for the viewer."""
    all_are_open = may_read_all(viewer, ranking)
    points = []
    for one in scores:
        is_open = all_are_open or (viewer is not None and viewer.name == one.author)
        points.append(
            {
                "author": one_line(one.author),
                "at_s": one.achieved_at.timestamp(),
                "score_s": one.score_s,
                "ci95_s": one.ci95_s,
                "submission_id": one.submission_id,
                "page": f"/submission/{one.submission_id}" if is_open else None,
            }
        )
    return {"name": one_line(name), "points": points}


@router.get("/{board}/authors.json")
async def ranked_names(
    page: PageDep,
    board: BoardName,
    device: DeviceQuery = None,
    beginning: Annotated[str, Query(max_length=NAME_MAX)] = "",
) -> Response:
    """Names of ranked authors that begin so: what a field offers while one types."""
    names = await page.services.trends.names(page.viewer, board, device, beginning)
    return JSONResponse({"names": names}, headers=HEADERS)
