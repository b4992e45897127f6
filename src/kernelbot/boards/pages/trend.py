"""What the chart of a board's trend is drawn of in the browser."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName, ServicesDep
from kernelbot.boards.pages.board import AuthorsQuery, DeviceQuery
from kernelbot.boards.pages.charts import HEADERS
from kernelbot.boards.pages.code_beside import may_read_all
from kernelbot.ranking.model import Score
from kernelbot.ranking.service import RankingVersion
from kernelbot.render.text import one_line
from kernelbot.schemas.common import NAME_MAX
from kernelbot.schemas.values import to_json
from kernelbot.web.pages import PageDep

router = APIRouter(prefix="/board", include_in_schema=False)

_JSON = "application/json"


@dataclass(frozen=True)
class Point:
    """A score. `at_s`: seconds since 1970. `page`: of its submission; None if it isn't for the
    viewer."""

    author: str
    at_s: float
    score_s: float
    ci95_s: tuple[float, float] | None
    submission_id: int
    page: str | None


@dataclass(frozen=True)
class Line:
    """Scores in the order of submitting, under a name."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class TrendData:
    """The record, and the scores of each author that was asked for."""

    record: Line
    authors: tuple[Line, ...]


@dataclass(frozen=True)
class Names:
    """Names of authors, the best first."""

    names: tuple[str, ...]


@router.get("/{board}/trend.json")
async def trend_data(
    services: ServicesDep,
    page: PageDep,
    board: BoardName,
    device: DeviceQuery = None,
    author: AuthorsQuery = None,
) -> Response:
    """The numbers of the chart, with intervals, and the pages that its points lead to."""
    viewer = page.viewer
    ranking, trend = await services.trends.for_board(viewer, board, device, author or ())
    data = TrendData(
        Line("record", _points(trend.records, viewer, ranking)),
        tuple(
            Line(one_line(name), _points(scores, viewer, ranking))
            for name, scores in trend.chosen.items()
        ),
    )
    return Response(to_json(TrendData, data), media_type=_JSON, headers=HEADERS)


def _points(
    scores: Iterable[Score], viewer: User | None, ranking: RankingVersion
) -> tuple[Point, ...]:
    all_are_open = may_read_all(viewer, ranking)

    def page_of(one: Score) -> str | None:
        is_own = viewer is not None and viewer.name == one.author
        return f"/submission/{one.submission_id}" if all_are_open or is_own else None

    return tuple(
        Point(
            one_line(one.author),
            one.achieved_at.timestamp(),
            one.score_s,
            one.ci95_s,
            one.submission_id,
            page_of(one),
        )
        for one in scores
    )


@router.get("/{board}/authors.json")
async def ranked_names(
    services: ServicesDep,
    page: PageDep,
    board: BoardName,
    device: DeviceQuery = None,
    beginning: Annotated[str, Query(max_length=NAME_MAX)] = "",
) -> Response:
    """Names of ranked authors that begin so: what a field offers while one types."""
    names = await services.trends.names(page.viewer, board, device, beginning)
    return Response(to_json(Names, Names(names)), media_type=_JSON, headers=HEADERS)
