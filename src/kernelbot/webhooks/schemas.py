"""Webhooks and what was delivered to them."""

from dataclasses import field
from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Name, RequestBody
from kernelbot.webhooks.model import WebhookEvent


@dataclass(frozen=True)
class NewWebhookRequest(RequestBody):
    """A webhook to make."""

    url: Annotated[str, Within(min_length=1, max_length=2000)] = field(
        metadata=described("Where messages are posted to.")
    )
    board: Name | None = field(
        default=None,
        metadata=described("Whose events; null: those of the asker's own submissions."),
    )
    events: Annotated[tuple[WebhookEvent, ...], Within(max_length=10)] = field(
        default=(), metadata=described("What it is told of; empty: all that there is.")
    )
