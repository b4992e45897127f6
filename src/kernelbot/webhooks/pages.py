"""The webhooks of a board, and how their deliveries went."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.services import Services
from kernelbot.web.organisers import HOME, Done, OrganiserPage
from kernelbot.web.pages import PostedPage, go
from kernelbot.web.paths import organised_path
from kernelbot.webhooks.model import BOARD_EVENTS, Webhook, WebhookEvent
from kernelbot.webhooks.service import no_webhook

router = APIRouter(prefix=f"{HOME}/board/{{board}}/webhooks", include_in_schema=False)

Number = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
Url = Annotated[str, Form(max_length=2000)]
Events = Annotated[list[WebhookEvent] | None, Form()]


@router.get("")
async def show_webhooks(page: OrganiserPage, board: BoardName, done: Done = "") -> Response:
    """The board's webhooks, the newest first, and a form for another."""
    found = await page.services.boards.get_organised(page.user, board)
    return page(
        "organise/webhooks.html",
        tab="boards",
        done=done,
        board=found,
        webhooks=await page.services.webhooks.list_webhooks(page.user, found.name),
        events=BOARD_EVENTS,
    )


@router.post("")
async def create_webhook(
    page: PostedPage, board: BoardName, url: Url = "", event: Events = None
) -> Response:
    """Make a webhook; its secret is on this page only."""
    found = await page.services.boards.get_organised(page.user, board)
    made = await page.services.webhooks.create(
        page.user, url.strip(), board=found.name, events=event or ()
    )
    return page("organise/new_webhook.html", tab="boards", board=found, made=made)


@router.get("/{number}")
async def show_webhook(
    page: OrganiserPage, board: BoardName, number: Number, done: Done = ""
) -> Response:
    """What it was told last, what failed why, and what is tried when."""
    found = await page.services.boards.get_organised(page.user, board)
    webhook = await _of_board(page.services, page.user, found.name, number)
    return page(
        "organise/webhook.html",
        tab="boards",
        done=done,
        board=found,
        webhook=webhook,
        messages=await page.services.webhooks.messages(page.user, number),
    )


@router.post("/{number}/test")
async def try_webhook(page: PostedPage, board: BoardName, number: Number) -> Response:
    """Send a message that says nothing."""
    await _of_board(page.services, page.user, board, number)
    await page.services.webhooks.try_it(page.user, number)
    return go(f"{organised_path(board)}/webhooks/{number}?done=tried")


@router.post("/{number}/enable")
async def enable_webhook(page: PostedPage, board: BoardName, number: Number) -> Response:
    await _of_board(page.services, page.user, board, number)
    await page.services.webhooks.enable(page.user, number)
    return go(f"{organised_path(board)}/webhooks/{number}?done=enabled")


@router.post("/{number}/delete")
async def delete_webhook(page: PostedPage, board: BoardName, number: Number) -> Response:
    await _of_board(page.services, page.user, board, number)
    await page.services.webhooks.delete(page.user, number)
    return go(f"{organised_path(board)}/webhooks?done=unhooked")


async def _of_board(services: Services, actor: User, board: str, number: int) -> Webhook:
    """Raises `NotFound`, also for another board's."""
    webhook = await services.webhooks.get(actor, number)
    if webhook.board != board:
        raise no_webhook(number)
    return webhook
