"""Webhooks: one method per route."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernelbot.client.calls import Request, ask, described, send

if TYPE_CHECKING:
    from kernelbot.webhooks.answers import WebhookList, WebhookLog
    from kernelbot.webhooks.model import NewWebhook, Webhook, WebhookEvent


class WebhookCalls:
    """Part of the clients."""

    @described
    def webhooks(self, board: str | None = None) -> Request[WebhookList]:
        """The caller's own, or a board's for its organisers."""
        from kernelbot.webhooks.answers import WebhookList

        return ask(WebhookList, "GET", "/webhooks", query={"board": board})

    @described
    def create_webhook(
        self, url: str, *, board: str | None = None, events: Sequence[WebhookEvent] = ()
    ) -> Request[NewWebhook]:
        """Make a webhook; its secret is in no other answer."""
        from kernelbot.webhooks.model import NewWebhook
        from kernelbot.webhooks.schemas import NewWebhookRequest

        body = NewWebhookRequest(url=url, board=board, events=tuple(events))
        return ask(NewWebhook, "POST", "/webhooks", body=body)

    @described
    def delete_webhook(self, webhook_id: int) -> Request[None]:
        """Delete a webhook with its log."""
        return send("DELETE", f"/webhooks/{webhook_id}")

    @described
    def webhook_messages(self, webhook_id: int) -> Request[WebhookLog]:
        """The webhook's last messages and how their delivery went."""
        from kernelbot.webhooks.answers import WebhookLog

        return ask(WebhookLog, "GET", f"/webhooks/{webhook_id}/messages")

    @described
    def test_webhook(self, webhook_id: int) -> Request[Webhook]:
        """Send a message that says nothing."""
        from kernelbot.webhooks.model import Webhook

        return ask(Webhook, "POST", f"/webhooks/{webhook_id}/test")

    @described
    def enable_webhook(self, webhook_id: int) -> Request[Webhook]:
        """Tell a disabled webhook again."""
        from kernelbot.webhooks.model import Webhook

        return ask(Webhook, "POST", f"/webhooks/{webhook_id}/enable")
