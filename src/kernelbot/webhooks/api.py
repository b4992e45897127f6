"""Webhooks: of boards for their organisers, of one's own submissions for everyone."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.schemas.common import Id, Name
from kernelbot.webhooks.answers import WebhookList, WebhookLog
from kernelbot.webhooks.model import NewWebhook, Webhook
from kernelbot.webhooks.schemas import NewWebhookRequest

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


@router.get("", responses=documented(401, 403, 404, 422, 503))
async def list_webhooks(
    services: ServicesDep, viewer: Viewer, board: Annotated[Name | None, Query()] = None
) -> WebhookList:
    """The asker's own, or a board's for its organisers."""
    return WebhookList(webhooks=await services.webhooks.list_webhooks(viewer, board))


@router.post("", status_code=201, responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def create_webhook(
    services: ServicesDep, viewer: Viewer, body: NewWebhookRequest
) -> NewWebhook:
    """Make a webhook; its secret is shown only now. A board's are for its organisers."""
    return await services.webhooks.create(viewer, body.url, board=body.board, events=body.events)


@router.delete("/{webhook_id}", status_code=204, responses=documented(401, 404, 422, 503))
async def delete_webhook(services: ServicesDep, viewer: Viewer, webhook_id: Id) -> None:
    """Delete a webhook with its log."""
    await services.webhooks.delete(viewer, webhook_id)


@router.get("/{webhook_id}/messages", responses=documented(401, 404, 422, 503))
async def list_messages(services: ServicesDep, viewer: Viewer, webhook_id: Id) -> WebhookLog:
    """The last hundred messages: what was delivered, what failed why, and what is tried when."""
    return WebhookLog(messages=await services.webhooks.messages(viewer, webhook_id))


@router.post("/{webhook_id}/test", status_code=202, responses=documented(401, 404, 409, 422, 503))
async def test_webhook(services: ServicesDep, viewer: Viewer, webhook_id: Id) -> Webhook:
    """Send a message that says nothing, to try it."""
    return await services.webhooks.try_it(viewer, webhook_id)


@router.post("/{webhook_id}/enable", responses=documented(401, 404, 422, 503))
async def enable_webhook(services: ServicesDep, viewer: Viewer, webhook_id: Id) -> Webhook:
    """Tell a disabled webhook again, of what happens from now on."""
    return await services.webhooks.enable(viewer, webhook_id)
