"""The webhooks of a board, and how their deliveries went."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName, ServicesDep
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.services import Services
from kernelbot.web.organisers import HOME, Done, Organiser
from kernelbot.web.pages import PageDep, go
from kernelbot.web.paths import organised_path
from kernelbot.web.session import PostedSession
from kernelbot.webhooks.model import BOARD_EVENTS, Webhook, WebhookEvent
from kernelbot.webhooks.service import no_webhook

router = APIRouter(prefix=f"{HOME}/board/{{board}}/webhooks", include_in_schema=False)

Number = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
Url = Annotated[str, Form(max_length=2000)]
Events = Annotated[list[WebhookEvent] | None, Form()]


@router.get("")
async def show_webhooks(
    services: ServicesDep, session: Organiser, page: PageDep, board: BoardName, done: Done = ""
) -> Response:
    """The board's webhooks, the newest first, and a form for another."""
    found = await services.boards.get_organised(session.user, board)
    return page(
        "organise/webhooks.html",
        tab="boards",
        done=done,
        board=found,
        webhooks=await services.webhooks.list_webhooks(session.user, found.name),
        events=BOARD_EVENTS,
    )


@router.post("")
async def create_webhook(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    board: BoardName,
    url: Url = "",
    event: Events = None,
) -> Response:
    """Make a webhook; its secret is on this page only."""
    found = await services.boards.get_organised(session.user, board)
    made = await services.webhooks.create(
        session.user, url.strip(), board=found.name, events=event or ()
    )
    return page("organise/new_webhook.html", tab="boards", board=found, made=made)


@router.get("/{number}")
async def show_webhook(
    services: ServicesDep,
    session: Organiser,
    page: PageDep,
    board: BoardName,
    number: Number,
    done: Done = "",
) -> Response:
    """What it was told last, what failed why, and what is tried when."""
    found = await services.boards.get_organised(session.user, board)
    webhook = await _of_board(services, session.user, found.name, number)
    return page(
        "organise/webhook.html",
        tab="boards",
        done=done,
        board=found,
        webhook=webhook,
        messages=await services.webhooks.messages(session.user, number),
    )


@router.post("/{number}/test")
async def try_webhook(
    services: ServicesDep, session: PostedSession, board: BoardName, number: Number
) -> Response:
    """Send a message that says nothing."""
    await _of_board(services, session.user, board, number)
    await services.webhooks.try_it(session.user, number)
    return go(f"{organised_path(board)}/webhooks/{number}?done=tried")


@router.post("/{number}/enable")
async def enable_webhook(
    services: ServicesDep, session: PostedSession, board: BoardName, number: Number
) -> Response:
    """Tell a disabled one again."""
    await _of_board(services, session.user, board, number)
    await services.webhooks.enable(session.user, number)
    return go(f"{organised_path(board)}/webhooks/{number}?done=enabled")


@router.post("/{number}/delete")
async def delete_webhook(
    services: ServicesDep, session: PostedSession, board: BoardName, number: Number
) -> Response:
    await _of_board(services, session.user, board, number)
    await services.webhooks.delete(session.user, number)
    return go(f"{organised_path(board)}/webhooks?done=unhooked")


async def _of_board(services: Services, actor: User, board: str, number: int) -> Webhook:
    """Raises `NotFound`, also for another board's."""
    webhook = await services.webhooks.get(actor, number)
    if webhook.board != board:
        raise no_webhook(number)
    return webhook
