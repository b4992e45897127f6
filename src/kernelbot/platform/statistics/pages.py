"""How much was submitted and judged: numbers, charts, and exports."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from kernelbot.accounts.permissions import is_admin
from kernelbot.api.dependencies import ServicesDep
from kernelbot.boards.pages.charts import COLOURS, HEADERS, Theme, pictures_of
from kernelbot.domain.errors import NotFound
from kernelbot.drawing.drawing import PictureFormat
from kernelbot.platform.exports.api import file_answer
from kernelbot.platform.exports.model import ExportChoice, ExportFormat
from kernelbot.render.statistics_charts import outcomes_chart, times_chart
from kernelbot.web.organisers import HOME, Organiser, Typed, Word, filled
from kernelbot.web.pages import PageDep
from kernelbot.web.session import PostedSession

router = APIRouter(prefix=HOME, include_in_schema=False)


class ShownStatistic(StrEnum):
    """What a picture shows."""

    OUTCOMES = "outcomes"
    TIMES = "times"


_MAX_AGE_S = 10.0
"""How old the numbers of a page may be: counting takes a tenth of a second for a board with 60,000
submissions."""
_CHARTS = {ShownStatistic.OUTCOMES: outcomes_chart, ShownStatistic.TIMES: times_chart}


@router.get("/statistics")
async def show_statistics(
    services: ServicesDep,
    session: Organiser,
    page: PageDep,
    board: Word = "",
    last_day: bool = False,
) -> Response:
    """Statistics of one board, or for admins of everything."""
    boards = [one.name for one in await services.boards.organised(session.user)]
    chosen = filled(board)
    if chosen is None and not is_admin(session.user):
        chosen = boards[0] if boards else None
    found = None
    if chosen is not None or is_admin(session.user):
        found = await services.statistics.show(
            session.user, board=chosen, last_day=last_day, max_age_s=_MAX_AGE_S
        )
    return page(
        "organise/statistics.html",
        tab="statistics",
        boards=boards,
        found=found,
        board=found.board if found else None,
        last_day=last_day,
        hub=services.exports.hub,
    )


@router.get("/statistics/{shown}.svg")
async def picture(
    request: Request,
    services: ServicesDep,
    session: Organiser,
    shown: ShownStatistic,
    board: Word = "",
    last_day: bool = False,
    theme: Annotated[Theme, Query()] = Theme.LIGHT,
) -> Response:
    """The numbers as bars."""
    found = await services.statistics.show(
        session.user, board=filled(board), last_day=last_day, max_age_s=_MAX_AGE_S
    )
    if not found.devices:
        raise NotFound("Nothing was judged yet, so there is nothing to draw.")
    chart = _CHARTS[shown](found, COLOURS[theme])
    key = ("statistics", found.board, last_day, shown, theme)
    drawn = await pictures_of(request).get(key, found, chart, PictureFormat.SVG)
    return Response(drawn, media_type="image/svg+xml", headers=HEADERS)


@router.post("/export")
async def export_file(
    services: ServicesDep,
    session: PostedSession,
    board: Typed = "",
    form: Annotated[ExportFormat, Form(alias="format")] = ExportFormat.PARQUET,
) -> Response:
    """A Parquet file with one row per submission, or CSV with one row per run."""
    return await file_answer(services, session.user, _choice(board), form)


@router.post("/export/hub")
async def export_to_hub(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    board: Typed = "",
    name: Annotated[str, Form(max_length=120)] = "",
    public: Annotated[bool, Form()] = False,
) -> Response:
    """Upload the Parquet file to the configured dataset."""
    done = await services.exports.to_hub(
        session.user, _choice(board), name.strip(), private=not public
    )
    return page("organise/exported.html", tab="statistics", exported=done)


def _choice(board: str) -> ExportChoice:
    name = filled(board)
    return ExportChoice(names=(name,) if name else ())
