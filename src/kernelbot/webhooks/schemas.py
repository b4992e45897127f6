"""Webhooks and what was delivered to them."""

from pydantic import Field

from kernelbot.schemas.common import Name, RequestBody, Text
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
