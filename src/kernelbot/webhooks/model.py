"""Webhooks: addresses that are told what happens, by signed requests."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
"""Of a webhook that belongs to no board: of its owner's submissions."""


@dataclass(frozen=True)
class WebhookRules:
    """`private_addresses`: also those of this network may be told, on every port and without TLS.
    `ports`: further ones than 443 and 80."""

    private_addresses: bool = False
    ports: tuple[int, ...] = ()


@dataclass(frozen=True)
class Webhook:
    """Without its secret."""

    id: int
    owner_id: int
    owner: str
    board: str | None
    """None: it is told of its owner's submissions, on all boards."""
    creator_id: int | None
    """The board's creator."""
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: datetime
    failing_since: datetime | None
    """None: the last message was delivered, or there was none."""
    disabled_at: datetime | None
    """None: it is told."""
    disabled_reason: str | None


@dataclass(frozen=True)
class NewWebhook:
    """A webhook just made, with the secret that its messages are signed with."""

    webhook: Webhook
    secret: str = field(repr=False)


@dataclass(frozen=True)
class WebhookMessage:
    """A message, and how its delivery went."""

    id: int
    message_id: str
    """The same in every attempt, so that a receiver knows a repetition."""
    event: WebhookEvent
    data: dict[str, object]
    created_at: datetime
    tries: int
    next_at: datetime | None
    """When it is tried next; None: it was delivered or is given up."""
    tried_at: datetime | None
    delivered_at: datetime | None
    status: int | None
    """The last answer's; None: there was none."""
    error: str | None
    """Why it wasn't delivered; None: it was, or it wasn't tried."""


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
    failing_s: float | None
    """For how long the webhook has had no message delivered; None: it doesn't fail."""
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
