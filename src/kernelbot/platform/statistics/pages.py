"""How much was submitted and judged: numbers, charts, and exports."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from kernelbot.accounts.permissions import is_admin
from kernelbot.boards.pages.charts import COLOURS, HEADERS, Theme, pictures_of
from kernelbot.domain.errors import NotFound
from kernelbot.drawing.drawing import PictureFormat
from kernelbot.platform.exports.api import file_answer
from kernelbot.platform.exports.model import ExportChoice, ExportFormat
from kernelbot.render.statistics_charts import outcomes_chart, times_chart
from kernelbot.web.organisers import HOME, OrganiserPage, Typed, Word, filled
from kernelbot.web.pages import PostedPage

router = APIRouter(prefix=HOME, include_in_schema=False)


class ShownStatistic(StrEnum):
    OUTCOMES = "outcomes"
    TIMES = "times"


_MAX_AGE_S = 10.0
"""How old the numbers of a page may be: counting takes a tenth of a second for a board with 60,000
submissions."""
_CHARTS = {ShownStatistic.OUTCOMES: outcomes_chart, ShownStatistic.TIMES: times_chart}


@router.get("/statistics")
async def show_statistics(
    page: OrganiserPage, board: Word = "", last_day: bool = False
) -> Response:
    boards = [one.name for one in await page.services.boards.organised(page.user)]
    chosen = filled(board)
    if chosen is None and not is_admin(page.user):
        chosen = boards[0] if boards else None
    found = None
    if chosen is not None or is_admin(page.user):
        found = await page.services.statistics.show(
            page.user, board=chosen, last_day=last_day, max_age_s=_MAX_AGE_S
        )
    return page(
        "organise/statistics.html",
        tab="statistics",
        boards=boards,
        found=found,
        board=found.board if found else None,
        last_day=last_day,
        hub=page.services.exports.hub,
    )


@router.get("/statistics/{shown}.svg")
async def picture(
    request: Request,
    page: OrganiserPage,
    shown: ShownStatistic,
    board: Word = "",
    last_day: bool = False,
    theme: Annotated[Theme, Query()] = Theme.LIGHT,
) -> Response:
    found = await page.services.statistics.show(
        page.user, board=filled(board), last_day=last_day, max_age_s=_MAX_AGE_S
    )
    if not found.devices:
        raise NotFound("Nothing was judged yet, so there is nothing to draw.")
    chart = _CHARTS[shown](found, COLOURS[theme])
    key = ("statistics", found.board, last_day, shown, theme)
    drawn = await pictures_of(request).get(key, found, chart, PictureFormat.SVG)
    return Response(drawn, media_type="image/svg+xml", headers=HEADERS)


@router.post("/export")
async def export_file(
    page: PostedPage,
    board: Typed = "",
    form: Annotated[ExportFormat, Form(alias="format")] = ExportFormat.PARQUET,
) -> Response:
    """A Parquet file with one row per submission, or CSV with one row per run."""
    return await file_answer(page.services, page.user, _choice(board), form)


@router.post("/export/hub")
async def export_to_hub(
    page: PostedPage,
    board: Typed = "",
    name: Annotated[str, Form(max_length=120)] = "",
    public: Annotated[bool, Form()] = False,
) -> Response:
    """Upload the Parquet file to the configured dataset."""
    done = await page.services.exports.to_hub(
        page.user, _choice(board), name.strip(), private=not public
    )
    return page("organise/exported.html", tab="statistics", exported=done)


def _choice(board: str) -> ExportChoice:
    name = filled(board)
    return ExportChoice(names=(name,) if name else ())
