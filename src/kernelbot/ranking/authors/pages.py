"""`GET /author/{author_id}`: an author's page, and a feed of what is new on it."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kernelbot.api.dependencies import ServicesDep, SettingsDep, UserId
from kernelbot.boards.pages import feeds
from kernelbot.boards.pages.embeds import ATOM, cacheable_response
from kernelbot.ranking.authors.api import BeforeId
from kernelbot.ranking.authors.calendar import calendar
from kernelbot.ranking.authors.model import Author
from kernelbot.ranking.model import Record, Score
from kernelbot.schemas.common import NAME_MAX
from kernelbot.web.pages import PageDep, go
from kernelbot.web.paths import author_path

router = APIRouter(prefix="/author", include_in_schema=False)

_ENTRIES = 50


@router.get("")
async def find_author(
    page: PageDep, name: Annotated[str, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
) -> Response:
    """Leads to the page of the author of this name: a name may hold what no path can, and may
    change."""
    return go(author_path(await page.services.authors.named(page.viewer, name)))


@router.get("/{author_id}")
async def show_author(page: PageDep, author_id: UserId, before_id: BeforeId = None) -> Response:
    """Boards, medals, the calendar and the scores that count, as far as the visitor sees them."""
    viewer = page.viewer
    author = await page.services.authors.get(viewer, author_id, before_id=before_id)
    return page(
        "author.html",
        author=author,
        mine=viewer is not None and viewer.id == author.id,
        followed=viewer is not None
        and await page.services.following.follows_author(viewer, author_id),
        days=calendar(author.days, datetime.now(UTC).date()),
        before_id=before_id,
    )


@router.get("/{author_id}/scores.atom")
async def author_feed(
    request: Request, services: ServicesDep, settings: SettingsDep, author_id: UserId
) -> Response:
    """An author's latest scores that count, on the boards that everybody sees."""
    author = await services.authors.scores(None, author_id, limit=_ENTRIES)
    base_url = settings.base_url(request)
    own_url = f"{base_url}{author_path(author_id)}/scores.atom"
    feed = feeds.atom(f"Scores of {author.name}", own_url, base_url, _records(author), feeds.SCORE)
    return cacheable_response(request, feed.encode(), ATOM, ends_at_once=True)


def _records(author: Author) -> list[Record]:
    return [
        Record(
            one.board,
            one.device,
            Score(one.submission_id, author.name, one.score_s, None, one.achieved_at),
        )
        for one in author.history.scores
    ]
