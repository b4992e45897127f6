"""A receiver, and what delivers to it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kernelbot.webhooks.deliveries import Deliveries, DeliveryAttempt
from kernelbot.webhooks.model import NewWebhook, WebhookEvent, WebhookRules
from kernelbot.webhooks.sender import DeliveryAnswer, Sender
from kernelbot.webhooks.service import Webhooks
from tests.fakes.webhooks import FakeReceiver, fake_receiver
from tests.support.world import World

HERE = WebhookRules(private_addresses=True)


@dataclass
class Post:
    """Webhooks that may be on this machine, without the process that delivers to them."""

    world: World
    webhooks: Webhooks
    deliveries: Deliveries
    receiver: FakeReceiver

    async def hook(
        self, board: str | None = "sort", events: tuple[WebhookEvent, ...] = ()
    ) -> NewWebhook:
        """A webhook at the receiver: the board's, made by the admin, or ada's own."""
        actor = self.world.admin.user if board else self.world.ada.user
        made = await self.webhooks.create(actor, self.receiver.url, board=board, events=events)
        self.receiver.secret = made.secret
        return made

    async def due(self) -> list[int]:
        """The messages for which a task is deferred, in the order of deferring."""
        async with self.world.database.read() as session:
            rows = await session.all(
                "SELECT (args->>'message')::bigint AS id FROM procrastinate_jobs"
                " WHERE task_name = 'deliver_webhook' AND queue_name = 'webhooks'"
                " AND (scheduled_at IS NULL OR scheduled_at <= now()) ORDER BY id"
            )
        return [row["id"] for row in rows]

    async def deliver_all(self) -> list[DeliveryAnswer | None]:
        """As the tasks would."""
        return [one.answer for _ in await self.due() for one in await self.deliver()]

    async def deliver(self) -> list[DeliveryAttempt]:
        """As one task would."""
        found = []
        while (tried := await self.deliveries.deliver_next()) is not None:
            found.append(tried)
        return found

    async def later(self, **interval: int) -> None:
        """Let time pass for all that waits."""
        async with self.world.database.write() as session:
            await session.do(
                "UPDATE webhook_messages SET next_at = next_at - make_interval("
                "days => %(days)s, mins => %(minutes)s) WHERE next_at IS NOT NULL",
                {"days": 0, "minutes": 0, **interval},
            )
            await session.do(
                "UPDATE webhooks SET failing_since = failing_since - passed,"
                " paused_until = paused_until - passed"
                " FROM make_interval(days => %(days)s, mins => %(minutes)s) passed",
                {"days": 0, "minutes": 0, **interval},
            )


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    with fake_receiver() as found:
        yield found


@pytest.fixture
def post(world: World, receiver: FakeReceiver) -> Post:
    return Post(
        world,
        Webhooks(world.database, HERE),
        Deliveries(world.database, Sender(HERE, timeout_s=60.0)),
        receiver,
    )
