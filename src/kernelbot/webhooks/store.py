"""Webhooks, and the messages that are to be delivered to them."""

from collections.abc import Sequence

from kernelbot.schemas.values import from_row
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements
from kernelbot.webhooks.model import (
    BusyReceivers,
    DueMessage,
    OwnedWebhook,
    Webhook,
    WebhookEvent,
    WebhookMessage,
)

_CANDIDATES = 10
"""Several, since another worker may take the first."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 5.0, 300.0
"""The pause of a webhook after its first failure in a row, and at most."""


async def lock(session: WriteSession, *, owner_id: int, leaderboard_id: int | None) -> None:
    """Until the transaction ends nobody else adds one to the board, or without a board to its
    owner's."""
    name = "lock_owner" if leaderboard_id is None else "lock_board"
    values = {"owner_id": owner_id, "leaderboard_id": leaderboard_id}
    await session.one(statements(__file__)[name], values)


async def add(
    session: WriteSession,
    *,
    owner_id: int,
    leaderboard_id: int | None,
    url: str,
    events: Sequence[WebhookEvent],
    secret: bytes,
    max_webhooks: int,
) -> int | None:
    """The new webhook's id; None if the board, or without a board its owner, has `max_webhooks`
    already."""
    values = {
        "owner_id": owner_id,
        "leaderboard_id": leaderboard_id,
        "url": url,
        "events": list(events),
        "secret": secret,
        "max_webhooks": max_webhooks,
    }
    row = await session.one(statements(__file__)["add"], values)
    return row["id"] if row else None


async def of_board(session: ReadSession, leaderboard_id: int) -> list[OwnedWebhook]:
    """A board's, the newest first."""
    return await _shown(session, leaderboard_id=leaderboard_id)


async def of_owner(session: ReadSession, owner_id: int) -> list[OwnedWebhook]:
    """The webhooks for a person's own submissions, the newest first."""
    return await _shown(session, owner_id=owner_id)


async def disabled(session: ReadSession) -> list[OwnedWebhook]:
    """The webhooks of all boards that are sent nothing any more, the newest first."""
    return await _shown(session, disabled=True)


async def one(session: ReadSession, webhook_id: int) -> OwnedWebhook | None:
    """None: there is no such webhook."""
    found = await _shown(session, webhook_id=webhook_id)
    return found[0] if found else None


async def _shown(
    session: ReadSession,
    *,
    webhook_id: int | None = None,
    leaderboard_id: int | None = None,
    owner_id: int | None = None,
    disabled: bool = False,
) -> list[OwnedWebhook]:
    values = {
        "webhook_id": webhook_id,
        "leaderboard_id": leaderboard_id,
        "owner_id": owner_id,
        "disabled": disabled,
    }
    return [_owned(row) for row in await session.all(statements(__file__)["shown"], values)]


async def delete(session: WriteSession, webhook_id: int) -> None:
    await session.do(statements(__file__)["delete"], {"webhook_id": webhook_id})


async def enable(session: WriteSession, webhook_id: int) -> None:
    """Tell it again of what happens from now on."""
    await session.do(statements(__file__)["enable"], {"webhook_id": webhook_id})


async def disable(session: WriteSession, webhook_id: int, reason: str) -> None:
    """Tell it no more, also of what is waiting."""
    values = {"webhook_id": webhook_id, "reason": reason}
    await session.do(statements(__file__)["disable"], values)
    await session.do(statements(__file__)["give_up"], values)


async def try_it(session: WriteSession, webhook_id: int) -> bool:
    """Add a message that says nothing; False: the last one waits yet."""
    return await session.do(statements(__file__)["try_it"], {"webhook_id": webhook_id}) == 1


async def messages(session: ReadSession, webhook_id: int, *, limit: int) -> list[WebhookMessage]:
    values = {"webhook_id": webhook_id, "limit": limit}
    rows = await session.all(statements(__file__)["messages"], values)
    return [from_row(WebhookMessage, row) for row in rows]


async def claim(session: WriteSession, busy: BusyReceivers, *, lease_s: float) -> DueMessage | None:
    """Take the message that is next, so that nobody else delivers it within the lease; after that
    it is due again. None: none is due that may be told while the others are."""
    values = {
        "owners": list(busy.owners),
        "hosts": list(busy.hosts),
        "webhooks": list(busy.webhooks),
        "limit": _CANDIDATES,
    }
    for candidate in await session.all(statements(__file__)["due"], values):
        claimed = {"id": candidate["id"], "lease_s": lease_s}
        row = await session.one(statements(__file__)["claim"], claimed)
        if row is not None:  # else another worker has just taken it
            return from_row(DueMessage, row)
    return None


async def delivered(session: WriteSession, message: DueMessage, status: int) -> None:
    await session.do(statements(__file__)["delivered"], {"id": message.id, "status": status})


async def failed(
    session: WriteSession,
    message: DueMessage,
    *,
    status: int | None,
    error: str,
    pause_s: float | None,
) -> None:
    """The message couldn't be delivered; it is due again after the pause, or with None given up.
    The webhook is told nothing for a pause of its own, which doubles with each failure."""
    values = {
        "id": message.id,
        "tries": message.tries,
        "status": status,
        "error": error,
        "pause_s": pause_s,
        "first_s": _FIRST_PAUSE_S,
        "longest_s": _LONGEST_PAUSE_S,
    }
    await session.all(statements(__file__)["failed"], values)


async def tell_deadlines(session: WriteSession) -> None:
    """Add messages for deadlines that are near or have passed."""
    await session.one(statements(__file__)["tell_deadlines"])


async def forget(session: WriteSession) -> None:
    """Delete old messages that were delivered or given up."""
    await session.do(statements(__file__)["forget"])


def _owned(row: Row) -> OwnedWebhook:
    return OwnedWebhook(from_row(Webhook, row), row["owner_id"], row["creator_id"])
