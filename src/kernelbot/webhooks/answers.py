"""Lists of webhooks and of what was delivered to them."""

from kernelbot.protocol.late import dataclass
from kernelbot.webhooks.model import Webhook, WebhookMessage


@dataclass(frozen=True)
class WebhookList:
    """The newest first."""

    webhooks: list[Webhook]


@dataclass(frozen=True)
class WebhookLog:
    """A webhook's last messages, the newest first."""

    messages: list[WebhookMessage]
