"""Charts of a board, as pictures and as tables of numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from fastapi import APIRouter, Request, Response

from kernelbot.api.dependencies import BoardName
from kernelbot.boards.pages.board import AuthorsQuery, DeviceQuery
from kernelbot.domain.errors import NotFound, TooManyRequests, Unavailable
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.drawing.drawing import Drawing, PictureFormat
from kernelbot.platform.distribution import checkout_command
from kernelbot.ranking.model import Score, Trend
from kernelbot.ranking.roofline import roof_of, work_of
from kernelbot.ranking.trends import MAX_AUTHORS
from kernelbot.render.board_charts import DARK, LIGHT, roofline_chart, trend_chart
from kernelbot.render.charts import Chart
from kernelbot.render.csv_text import Cell, csv_text
from kernelbot.web.pages import PageDep

router = APIRouter(prefix="/board", include_in_schema=False)

_KEPT = 128
_KEPT_OF_LINKS = 32
_MEDIA_TYPES = {PictureFormat.SVG: "image/svg+xml", PictureFormat.PNG: "image/png"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=60",
}


class Theme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


COLOURS = {Theme.LIGHT: LIGHT, Theme.DARK: DARK}


@dataclass(frozen=True)
class ChartCache:
    """Charts that were drawn, for as long as what they show hasn't changed."""

    drawing: Drawing = field(default_factory=Drawing)
    kept: VersionedCache[tuple[object, ...], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    of_links: VersionedCache[tuple[object, ...], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT_OF_LINKS)
    )
    """Cards of authors' links, apart from the others: anybody can make many."""

    async def get(
        self,
        key: tuple[object, ...],
        version: object,
        chart: Chart,
        form: PictureFormat,
        *,
        kept: VersionedCache[tuple[object, ...], bytes] | None = None,
    ) -> bytes:
        """The picture, which is kept in `kept`; None: with those of boards. Raises `Unavailable`
        if the library isn't installed, `TooManyRequests` if it can't be drawn just now."""
        if not self.drawing.available:
            raise Unavailable(
                "Charts need the extra `charts`, which isn't installed.",
                hint=f"Whoever runs this server adds it: {checkout_command('charts')}.",
            )
        kept = self.kept if kept is None else kept
        picture = kept.get(key, version)
        if picture is None:
            picture = await self.drawing.draw(chart, form)
            if picture is None:
                raise TooManyRequests("The chart can't be drawn just now.", retry_after_s=5)
            kept.keep(key, version, picture)
        return picture


def pictures_of(request: Request) -> ChartCache:
    found = request.app.state.pictures
    assert isinstance(found, ChartCache)
    return found


@router.get("/{board}/trend.csv")
async def trend_table(
    page: PageDep, board: BoardName, device: DeviceQuery = None, author: AuthorsQuery = None
) -> Response:
    _, trend = await page.services.trends.for_board(page.viewer, board, device, author or ())
    headers = {**HEADERS, "Content-Disposition": 'attachment; filename="trend.csv"'}
    return Response(as_csv(trend), media_type="text/csv; charset=utf-8", headers=headers)


def as_csv(trend: Trend) -> str:
    """A line for each record, then one for each score of the chosen authors."""
    lines: list[tuple[Cell, ...]] = [("series", "author", "submitted_at", "score_s")]
    lines += _lines("record", trend.records)
    for scores in trend.chosen.values():
        lines += _lines("author", scores)
    return csv_text(lines)


def _lines(series: str, scores: Iterable[Score]) -> Iterable[tuple[Cell, ...]]:
    return ((series, one.author, one.achieved_at, one.score_s) for one in scores)


@router.get("/{board}/trend.{form}")
async def trend_picture(
    request: Request,
    page: PageDep,
    board: BoardName,
    form: PictureFormat,
    device: DeviceQuery = None,
    author: AuthorsQuery = None,
    log: bool = False,
    theme: Theme = Theme.LIGHT,
) -> Response:
    """The record over time, and the scores of chosen authors."""
    ranking, trend = await page.services.trends.for_board(page.viewer, board, device, author or ())
    if not trend.records:
        raise NotFound("Nobody is ranked here yet, so there is nothing to draw.")
    key = (ranking.board.id, ranking.device, *trend.chosen, log, theme, form)
    chart = trend_chart(trend, log=log, colours=COLOURS[theme])
    picture = await pictures_of(request).get(key, ranking.version, chart, form)
    return Response(picture, media_type=_MEDIA_TYPES[form], headers=HEADERS)


@router.get("/{board}/roofline.{form}")
async def roofline_picture(
    request: Request,
    page: PageDep,
    board: BoardName,
    form: PictureFormat,
    device: DeviceQuery = None,
    theme: Theme = Theme.LIGHT,
) -> Response:
    """The first of a ranking below the limits of the device."""
    viewer = page.viewer
    ranking = await page.services.standings.ranking(viewer, board, device)
    work = work_of((await page.services.boards.problem(viewer, board)).spec)
    roof = roof_of(page.services.devices.spec(ranking.device), work)
    first = (await page.services.standings.page_of(ranking, limit=MAX_AUTHORS, offset=0)).standings
    if work is None or roof is None or not first:
        raise NotFound("There is no roofline: it needs scores, the work, and the device's peaks.")
    scores = [(row.author, row.score_s) for row in first]
    key = ("roofline", ranking.board.id, ranking.device, theme, form)
    version = (ranking, work, roof)
    chart = roofline_chart(work, roof, scores, COLOURS[theme])
    picture = await pictures_of(request).get(key, version, chart, form)
    return Response(picture, media_type=_MEDIA_TYPES[form], headers=HEADERS)
