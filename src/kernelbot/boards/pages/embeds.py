"""What other sites and feed readers fetch: a badge, a card, Atom feeds. They show what everyone
sees, whoever asks, so that anybody may keep them."""

import hashlib

from fastapi import APIRouter, Request, Response

from kernelbot.api.dependencies import BoardName, ServicesDep, SettingsDep
from kernelbot.boards.pages import feeds
from kernelbot.boards.pages.board import DeviceQuery
from kernelbot.boards.pages.charts import pictures_of
from kernelbot.drawing.drawing import PictureFormat
from kernelbot.render.board_charts import LIGHT, card_chart
from kernelbot.render.units import seconds_text
from kernelbot.web.paths import board_path

router = APIRouter(include_in_schema=False)

_ENTRIES = 50
ATOM = "application/atom+xml; charset=utf-8"
_SVG = "image/svg+xml"
_FIVE_MINUTES = "public, max-age=300"
_IF_STILL_THERE = "public, max-age=0, must-revalidate"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/board/{board}/badge.svg")
async def leader_badge(
    request: Request, services: ServicesDep, board: BoardName, device: DeviceQuery = None
) -> Response:
    """The board's name and its leader, in one line."""
    ranking = await services.standings.ranking(None, board, device)
    several = len(ranking.board.devices) > 1
    label = f"{ranking.board.name} {ranking.device}" if several else ranking.board.name
    rows = (await services.standings.page_of(ranking, limit=1, offset=0)).standings
    row = rows[0] if rows else None
    value = f"{seconds_text(row.score_s)} {row.author}" if row else "nobody yet"
    return cacheable_response(request, feeds.badge(label, value).encode(), _SVG)


@router.get("/board/{board}/card.png")
async def board_card(
    request: Request, services: ServicesDep, board: BoardName, device: DeviceQuery = None
) -> Response:
    """The picture that stands for a board where somebody links to it."""
    ranking, trend = await services.trends.for_board(None, board, device, ())
    rows = (await services.standings.page_of(ranking, limit=1, offset=0)).standings
    about = feeds.about(
        ranking.device, ranking.total, (rows[0].author, rows[0].score_s) if rows else None
    )
    key = ("card", ranking.board.id, ranking.device)
    version = (ranking.version, ranking.board.name)
    chart = card_chart(trend, about, colours=LIGHT)
    picture = await pictures_of(request).get(key, version, chart, PictureFormat.PNG)
    return cacheable_response(request, picture, "image/png")


@router.get("/board/{board}/records.atom")
async def board_feed(
    request: Request, services: ServicesDep, settings: SettingsDep, board: BoardName
) -> Response:
    """A board's latest records, on all of its devices."""
    records = await services.trends.latest(None, board, limit=_ENTRIES)
    base_url = settings.base_url(request)
    own_url = f"{base_url}{board_path(board)}/records.atom"
    feed = feeds.atom(f"Records of {board}", own_url, base_url, records)
    return cacheable_response(request, feed.encode(), ATOM)


@router.get("/records.atom")
async def all_feed(request: Request, services: ServicesDep, settings: SettingsDep) -> Response:
    records = await services.trends.latest(None, limit=_ENTRIES)
    base_url = settings.base_url(request)
    feed = feeds.atom("Records of all boards", f"{base_url}/records.atom", base_url, records)
    return cacheable_response(request, feed.encode(), ATOM)


def cacheable_response(
    request: Request, content: bytes, media_type: str, *, ends_at_once: bool = False
) -> Response:
    """An answer that others may keep for five minutes; nothing but its head if the asker has it
    already. `ends_at_once`: they ask each time whether it is still there, because a person may take
    it away."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    lasts = _IF_STILL_THERE if ends_at_once else _FIVE_MINUTES
    headers = {**_HEADERS, "Cache-Control": lasts, "ETag": tag}
    asked = request.headers.get("if-none-match", "")
    if tag in {one.strip().removeprefix("W/") for one in asked.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)
