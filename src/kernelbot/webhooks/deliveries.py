"""Delivers what webhooks are told, again and again until it is. The database writes messages in the
transaction that causes them, and defers a background task for each (`store/schema/webhooks`)."""

import asyncio
from collections import Counter
from dataclasses import dataclass

from kernelbot.accounts import store as users
from kernelbot.store.database import Database, WriteSession
from kernelbot.webhooks import store as webhooks
from kernelbot.webhooks.model import BusyReceivers, DueMessage
from kernelbot.webhooks.sender import DeliveryAnswer, Sender
from kernelbot.webhooks.service import may_have

_PAUSES_S = (5.0, 60.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Before the second attempt, the third, and so on: three days in all."""
_LEASE_S = 60.0
"""How long an attempt may take before another worker makes it: longer than a sender waits."""
_FAILING_DAYS = 5
"""After that long without a delivered message a webhook is disabled."""


_OF_OWNER, _OF_HOST = 2, 4
"""How many messages are sent at once that one person has asked for, and to one host."""


@dataclass(frozen=True)
class DeliveryAttempt:
    """One try to deliver a message. `answer` None: nobody is to be told any more."""

    message_id: int
    answer: DeliveryAnswer | None


class Deliveries:
    """Each message is delivered once, and again with the same id if a worker dies between telling
    and storing that it was told. For one event loop."""

    def __init__(self, database: Database, sender: Sender) -> None:
        self._database = database
        self._sender = sender
        self._claiming = asyncio.Lock()
        self._in_flight: list[DueMessage] = []

    async def deliver_next(self) -> DeliveryAttempt | None:
        """Try to deliver the message whose turn it is. None: there is none that may be sent beside
        those in flight. So whoever has delivered one asks for the next one, since a task whose
        message had to wait for that doesn't come again."""
        async with self._claiming:
            async with self._database.write() as session:
                message = await webhooks.claim(session, self._busy(), lease_s=_LEASE_S)
                if message is None:
                    return None
                url = await self._url(session, message)
            self._in_flight.append(message)  # once the claim is committed, which can fail
        try:
            return DeliveryAttempt(message.id, await self._deliver(url, message) if url else None)
        finally:
            self._in_flight.remove(message)

    async def _deliver(self, url: str, message: DueMessage) -> DeliveryAnswer:
        answer = await self._sender.send(url, message)
        async with self._database.write() as session:
            if answer.error is None:
                assert answer.status is not None
                await webhooks.delivered(session, message, answer.status)
                return answer
            await webhooks.failed(
                session,
                message,
                status=answer.status,
                error=answer.error,
                pause_s=pause_s(message.tries),
            )
            if answer.is_endpoint_deleted:
                await webhooks.disable(
                    session, message.webhook_id, "The receiver answered 410: it wants no more."
                )
            elif message.failing_s >= _FAILING_DAYS * 86_400:
                reason = f"Nothing could be delivered for {_FAILING_DAYS} days: {answer.error}"
                await webhooks.disable(session, message.webhook_id, reason)
        return answer

    def _busy(self) -> BusyReceivers:
        owners = Counter(message.owner_id for message in self._in_flight)
        hosts = Counter(message.host for message in self._in_flight)
        return BusyReceivers(
            owners=frozenset(owner for owner, count in owners.items() if count >= _OF_OWNER),
            hosts=frozenset(host for host, count in hosts.items() if count >= _OF_HOST),
            webhooks=frozenset(message.webhook_id for message in self._in_flight),
        )

    async def tell_deadlines(self) -> None:
        """Add messages for deadlines that are near or have passed."""
        async with self._database.write() as session:
            await webhooks.tell_deadlines(session)

    async def clean_up(self) -> None:
        """Delete messages that ended 30 days ago."""
        async with self._database.write() as session:
            await webhooks.forget(session)

    async def _url(self, session: WriteSession, message: DueMessage) -> str | None:
        """Where it goes. None: its owner may not have the webhook any more, so it is disabled."""
        owned = await webhooks.one(session, message.webhook_id)
        assert owned is not None, "its message was claimed"
        owner = await users.by_id(session, owned.owner_id)
        if owner is None or not may_have(owner, owned):
            reason = f"{owned.webhook.owner} may not read this any more."
            await webhooks.disable(session, owned.webhook.id, reason)
            return None
        return owned.webhook.url


def pause_s(tries: int) -> float | None:
    """How long after this many attempts the next one begins; None: there is no next one."""
    return _PAUSES_S[tries - 1] if tries <= len(_PAUSES_S) else None
