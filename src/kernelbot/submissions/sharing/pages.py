"""A result that its author shows: a page, the picture that stands for it, and the author's form."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from kernelbot.api.dependencies import ServicesDep, SubmissionId
from kernelbot.boards.pages.charts import pictures_of
from kernelbot.boards.pages.embeds import cacheable_response
from kernelbot.domain.errors import NotFound
from kernelbot.drawing.drawing import PictureFormat
from kernelbot.render.board_charts import LIGHT, result_chart
from kernelbot.render.standings import rank_text
from kernelbot.render.text import one_line
from kernelbot.render.units import seconds_text
from kernelbot.submissions.sharing.model import RESULT, SharedResult
from kernelbot.web import documents
from kernelbot.web.documents import TextsDep
from kernelbot.web.pages import PageDep, PostedPage, go

router = APIRouter(include_in_schema=False)

_SHOWN_CODE_CHARACTERS = 100_000
Secret = Annotated[str, Path(max_length=100)]


@router.get(f"{RESULT}/{{secret}}")
async def show_result(page: PageDep, texts: TextsDep, secret: Secret) -> Response:
    """The score, whose it is, and the code if they show it, whose colours count as asked for by its
    author, whoever looks. Raises `NotFound`."""
    result = await page.services.sharing.read(secret)
    source, cut = None, False
    if result.code is not None:
        shown = documents.excerpt(result.code, _SHOWN_CODE_CHARACTERS)
        source = await documents.source(texts, shown, result.file_name, asker=result.author_id)
        cut = len(shown) < len(result.code)
    return page(
        "result.html",
        result=result,
        page_id=await page.services.authors.page_id(result.author_id),
        here=f"{RESULT}/{secret}",
        headline=_headline(result),
        about=_about(result),
        source=source,
        cut=cut,
    )


@router.get(f"{RESULT}/{{secret}}/card.png")
async def result_card(request: Request, services: ServicesDep, secret: Secret) -> Response:
    """The picture that other sites show of a link to the result. Raises `NotFound`."""
    result = await services.sharing.read(secret)
    _, trend = await services.trends.for_board(None, result.board, result.device, ())
    if not trend.records:
        raise NotFound("Nobody is ranked there any more, so there is nothing to draw.")
    chart = result_chart(trend, result.score, _headline(result), _about(result), colours=LIGHT)
    key = ("result", result.score.submission_id)
    version = (result.version, _headline(result), _about(result), result.score.score_s)
    pictures = pictures_of(request)
    picture = await pictures.get(key, version, chart, PictureFormat.PNG, kept=pictures.of_links)
    return cacheable_response(request, picture, "image/png", ends_at_once=True)


def _headline(result: SharedResult) -> str:
    return f"{seconds_text(result.score.score_s)} on {result.board}, {result.device}"


def _about(result: SharedResult) -> str:
    place = "not ranked"
    if result.rank:
        place = f"place {rank_text(result.rank, result.shared)} of {result.authors}"
    return f"{one_line(result.score.author)}, {place}, {result.score.achieved_at:%d %B %Y}"


@router.post("/submission/{submission_id}/share")
async def share(
    page: PostedPage, submission_id: SubmissionId, shows_code: bool = Form(default=False)
) -> Response:
    await page.services.sharing.share(page.user, submission_id, shows_code=shows_code)
    return go(f"/submission/{submission_id}#share")


@router.post("/submission/{submission_id}/unshare")
async def stop_sharing(page: PostedPage, submission_id: SubmissionId) -> Response:
    await page.services.sharing.stop(page.user, submission_id)
    return go(f"/submission/{submission_id}#share")
