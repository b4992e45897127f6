"""Webhooks: addresses that are told what happens, by signed requests."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


class WebhookEvent(StrEnum):
    """What a webhook may be told of."""

    SUBMISSION_FINISHED = "submission.finished"
    RANKING_RECORD = "ranking.record"
    BOARD_ENDING = "board.ending"
    """Its deadline is within a day."""
    BOARD_ENDED = "board.ended"
    WEBHOOK_TEST = "webhook.test"
    """Asked for, to try it; every webhook is told."""


BOARD_EVENTS = tuple(event for event in WebhookEvent if event is not WebhookEvent.WEBHOOK_TEST)
OWN_EVENTS = (WebhookEvent.SUBMISSION_FINISHED,)
"""The events of a webhook that belongs to no board: those of its owner's submissions."""


@dataclass(frozen=True)
class WebhookRules:
    """`private_addresses`: also those of this network may be told, on every port and without TLS.
    `ports`: further ones than 443 and 80."""

    private_addresses: bool = False
    ports: tuple[int, ...] = ()


@dataclass(frozen=True)
class Webhook:
    """A webhook without its secret."""

    id: int
    owner: str
    board: str | None = field(
        metadata=described("Null: it is told of its owner's submissions, on all boards.")
    )
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: datetime
    failing_since: datetime | None = field(
        metadata=described("Null: the last message was delivered, or there was none.")
    )
    disabled_at: datetime | None = field(metadata=described("Null: it is told."))
    disabled_reason: str | None


@dataclass(frozen=True)
class NewWebhook(Webhook):
    """A webhook just made."""

    secret: str = field(
        repr=False, metadata=described("Shown only now. Messages are signed with it.")
    )


@dataclass(frozen=True)
class OwnedWebhook:
    """A webhook, and who may have it."""

    webhook: Webhook
    owner_id: int
    creator_id: int | None
    """The board's creator; None: it belongs to no board."""


@dataclass(frozen=True)
class WebhookMessage:
    """A message, and how its delivery went."""

    message_id: str = field(metadata=described("The `webhook-id` of all its attempts."))
    event: WebhookEvent
    created_at: datetime
    tries: int
    next_at: datetime | None = field(
        metadata=described("When it is tried next; null: it was delivered or is given up.")
    )
    tried_at: datetime | None
    delivered_at: datetime | None
    status: int | None = field(metadata=described("Of the last answer; null: there was none."))
    error: str | None = field(
        metadata=described("Why it wasn't delivered; null: it was, or it wasn't tried.")
    )


@dataclass(frozen=True)
class DueMessage:
    """A message to be delivered now, by whoever claimed it."""

    id: int
    webhook_id: int
    message_id: str
    event: WebhookEvent
    data: dict[str, object]
    created_at: datetime
    tries: int
    """With this one."""
    secret: bytes = field(repr=False)
    failing_s: float
    """For how long the webhook has had no message delivered; 0: it doesn't fail."""
    owner_id: int
    """The webhook's."""
    host: str
    """The one that its address names."""


@dataclass(frozen=True)
class BusyReceivers:
    """Whom no further message may be sent to just now."""

    owners: frozenset[int]
    hosts: frozenset[str]
    webhooks: frozenset[int]
    """Unless their messages have been delivered so far."""
