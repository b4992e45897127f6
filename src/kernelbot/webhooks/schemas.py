"""Webhooks and what was delivered to them."""

from datetime import datetime

from pydantic import Field

from kernelbot.schemas.common import Answer, Name, RequestBody, Shown, Text
from kernelbot.webhooks.model import WebhookEvent


class NewWebhookRequest(RequestBody):
    """A webhook to make."""

    url: Text = Field(min_length=1, max_length=2000, description="Where messages are posted to.")
    board: Name | None = Field(
        default=None, description="Whose events; null: those of the asker's own submissions."
    )
    events: list[WebhookEvent] = Field(
        default=[], max_length=10, description="What it is told of; empty: all that there is."
    )


class WebhookView(Shown):
    """A webhook without its secret."""

    id: int
    owner: str
    board: str | None
    url: str
    events: list[WebhookEvent]
    created_at: datetime
    failing_since: datetime | None = Field(description="Null: the last message was delivered.")
    disabled_at: datetime | None
    disabled_reason: str | None


class NewWebhookView(WebhookView):
    """A webhook just made."""

    secret: str = Field(description="Shown only now. Messages are signed with it.")


class WebhookList(Answer):
    """The newest first."""

    webhooks: list[WebhookView]


class WebhookMessageView(Shown):
    """A message, and how its delivery went."""

    message_id: str = Field(description="The `webhook-id` of all its attempts.")
    event: WebhookEvent
    created_at: datetime
    tries: int
    next_at: datetime | None = Field(
        description="When it is tried next; null: it was delivered or is given up."
    )
    tried_at: datetime | None
    delivered_at: datetime | None
    status: int | None = Field(description="Of the last answer; null: there was none.")
    error: str | None


class WebhookLog(Answer):
    """A webhook's last messages, the newest first."""

    messages: list[WebhookMessageView]
