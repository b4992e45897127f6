"""Webhooks: one method per route."""

from collections.abc import Sequence

from kernelbot.client.calls import Caller
from kernelbot.webhooks.model import NewWebhook, Webhook, WebhookEvent
from kernelbot.webhooks.schemas import NewWebhookRequest, WebhookList, WebhookLog


class WebhookCalls:
    """Part of `KernelbotClient`."""

    def webhooks(self: Caller, board: str | None = None) -> WebhookList:
        """The caller's own, or a board's for its organisers."""
        return self.ask(WebhookList, "GET", "/webhooks", query={"board": board})

    def create_webhook(
        self: Caller, url: str, *, board: str | None = None, events: Sequence[WebhookEvent] = ()
    ) -> NewWebhook:
        """Make a webhook; its secret is in no other answer."""
        body = NewWebhookRequest(url=url, board=board, events=list(events))
        return self.ask(NewWebhook, "POST", "/webhooks", body=body)

    def delete_webhook(self: Caller, webhook_id: int) -> None:
        """Delete a webhook with its log."""
        self.send("DELETE", f"/webhooks/{webhook_id}")

    def webhook_messages(self: Caller, webhook_id: int) -> WebhookLog:
        """Its last messages and how their delivery went."""
        return self.ask(WebhookLog, "GET", f"/webhooks/{webhook_id}/messages")

    def test_webhook(self: Caller, webhook_id: int) -> Webhook:
        """Send a message that says nothing."""
        return self.ask(Webhook, "POST", f"/webhooks/{webhook_id}/test")

    def enable_webhook(self: Caller, webhook_id: int) -> Webhook:
        """Tell a disabled webhook again."""
        return self.ask(Webhook, "POST", f"/webhooks/{webhook_id}/enable")
