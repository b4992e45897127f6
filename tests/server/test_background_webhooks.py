"""Webhooks from the commit to the receiver, also if the process in between is killed."""

import asyncio
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.server.background import background_tasks
from kernelbot.server.settings import Settings
from kernelbot.server.tables import WebhookSettings
from kernelbot.webhooks.model import WebhookRules
from kernelbot.webhooks.service import Webhooks
from tests.fakes.serving import Response
from tests.fakes.webhooks import FakeReceiver, fake_receiver
from tests.support.ranked import ranked
from tests.support.world import World

ALONE = """
import asyncio, sys
from pathlib import Path
from kernelbot.server.background import background_tasks
from kernelbot.server.settings import Settings
from kernelbot.server.tables import WebhookSettings
from kernelbot.server.worker_wiring import worker_database

async def main():
    webhooks = WebhookSettings(private_addresses=True)
    settings = Settings(data=Path(sys.argv[2]), webhooks=webhooks)
    async with worker_database(sys.argv[1], settings) as database:
        async with background_tasks(settings, database):
            await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    with fake_receiver() as found:
        yield found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, webhooks=WebhookSettings(private_addresses=True))


async def hooked(world: World, receiver: FakeReceiver) -> None:
    """A board's webhook at the receiver."""
    await world.board()
    webhooks = Webhooks(world.database, WebhookRules(private_addresses=True))
    made = await webhooks.create(world.admin.user, receiver.url, board="sort")
    receiver.secret = made.secret


async def test_what_was_committed_while_no_worker_ran_is_delivered(
    world: World, receiver: FakeReceiver, settings: Settings
) -> None:
    await hooked(world, receiver)
    await ranked(world, 1e-3)
    async with background_tasks(settings, world.database):
        told = await asyncio.to_thread(receiver.wait_for, 2)
    assert {"submission.finished", "ranking.record"} == {one.event for one in told}


async def test_a_message_whose_task_is_gone_is_delivered_all_the_same(
    world: World, receiver: FakeReceiver, settings: Settings
) -> None:
    await hooked(world, receiver)
    await ranked(world, 1e-3)
    async with world.database.write() as session:  # as after a kill before anything was claimed
        await session.do("DELETE FROM procrastinate_jobs")
    async with background_tasks(settings, world.database):
        told = await asyncio.to_thread(receiver.wait_for, 2)
    assert {"submission.finished", "ranking.record"} == {one.event for one in told}


async def test_one_authors_silent_receivers_delay_no_other_authors(
    world: World, receiver: FakeReceiver, settings: Settings
) -> None:
    webhooks = Webhooks(world.database, WebhookRules(private_addresses=True))
    released = threading.Event()
    with fake_receiver() as silent:
        silent.answer = lambda: Response() if released.wait(100) else Response(500)
        for number in range(20):
            made = await webhooks.create(world.ada.user, f"{silent.url}?{number}")
            await webhooks.try_it(world.ada.user, made.id)
        made = await webhooks.create(world.bob.user, receiver.url)
        await webhooks.try_it(world.bob.user, made.id)
        async with background_tasks(settings, world.database):
            await asyncio.to_thread(receiver.wait_for, 1)
            async with world.database.read() as session:
                row = await session.one("SELECT count(error) AS failed FROM webhook_messages")
            released.set()
    assert {"failed": 0} == row  # none of them had to be given up before


@pytest.mark.exhaustive  # each run has test_one_authors_silent_receivers_delay_no_other_authors
async def test_a_kill_in_the_middle_loses_nothing_and_repeats_the_same_id(
    world: World, receiver: FakeReceiver, settings: Settings, tmp_path: Path
) -> None:
    await hooked(world, receiver)
    async with world.database.write() as session:
        await session.do("UPDATE webhooks SET events = '{ranking.record}'")
    released = threading.Event()
    receiver.answer = lambda: Response() if released.wait(100) else Response(500)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ALONE, world.database.url, str(tmp_path)
    )
    await ranked(world, 1e-3)
    await asyncio.to_thread(receiver.wait_for, 1)
    child.send_signal(signal.SIGKILL)
    await child.wait()
    released.set()
    async with world.database.write() as session:  # a minute later
        await session.do("UPDATE webhook_messages SET next_at = now() WHERE next_at IS NOT NULL")
    async with background_tasks(settings, world.database):
        told = await asyncio.to_thread(receiver.wait_for, 2)
        for _ in range(1200):
            async with world.database.read() as session:
                row = await session.one("SELECT delivered_at FROM webhook_messages")
            if row and row["delivered_at"]:
                break
            await asyncio.sleep(0.05)
    assert (1, 2, True) == (
        len({one.message_id for one in told}),
        len(receiver.received),
        row is not None and row["delivered_at"] is not None,
    )
