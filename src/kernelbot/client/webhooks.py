"""Webhooks: one method per route."""

from collections.abc import Sequence

from kernelbot.client.calls import Request, ask, described, send
from kernelbot.webhooks.model import NewWebhook, Webhook, WebhookEvent
from kernelbot.webhooks.schemas import NewWebhookRequest, WebhookList, WebhookLog


class WebhookCalls:
    """Part of the clients."""

    @described
    def webhooks(self, board: str | None = None) -> Request[WebhookList]:
        """The caller's own, or a board's for its organisers."""
        return ask(WebhookList, "GET", "/webhooks", query={"board": board})

    @described
    def create_webhook(
        self, url: str, *, board: str | None = None, events: Sequence[WebhookEvent] = ()
    ) -> Request[NewWebhook]:
        """Make a webhook; its secret is in no other answer."""
        body = NewWebhookRequest(url=url, board=board, events=list(events))
        return ask(NewWebhook, "POST", "/webhooks", body=body)

    @described
    def delete_webhook(self, webhook_id: int) -> Request[None]:
        """Delete a webhook with its log."""
        return send("DELETE", f"/webhooks/{webhook_id}")

    @described
    def webhook_messages(self, webhook_id: int) -> Request[WebhookLog]:
        """Its last messages and how their delivery went."""
        return ask(WebhookLog, "GET", f"/webhooks/{webhook_id}/messages")

    @described
    def test_webhook(self, webhook_id: int) -> Request[Webhook]:
        """Send a message that says nothing."""
        return ask(Webhook, "POST", f"/webhooks/{webhook_id}/test")

    @described
    def enable_webhook(self, webhook_id: int) -> Request[Webhook]:
        """Tell a disabled webhook again."""
        return ask(Webhook, "POST", f"/webhooks/{webhook_id}/enable")
