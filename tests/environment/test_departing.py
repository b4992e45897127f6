"""What is awaited for a client that may leave, without a server."""

import asyncio

import pytest
from starlette.types import Message

from kernelbot.environment.departing import unless_gone


class Client:
    """Leaves when it is told to."""

    def __init__(self) -> None:
        self.leaves = asyncio.Event()

    async def receive(self) -> Message:
        """What a server says of it."""
        await self.leaves.wait()
        return {"type": "http.disconnect"}


class Work:
    """Ends once it may, or a while after it was cancelled."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.has_ended = False

    async def run(self) -> str:
        """Raises nothing of its own."""
        self.begun.set()
        try:
            await self.may_end.wait()
        finally:
            await asyncio.sleep(0)
            self.has_ended = True
        return "done"


async def test_a_client_that_stays_is_answered() -> None:
    work = Work()
    work.may_end.set()
    assert "done" == await unless_gone(Client().receive, work.run())


async def test_one_that_leaves_is_not_and_the_work_has_ended() -> None:
    client, work = Client(), Work()
    client.leaves.set()
    assert await unless_gone(client.receive, work.run()) is None
    assert work.has_ended


async def test_what_is_raised_is_raised() -> None:
    async def fail() -> str:
        raise KeyError("no")

    with pytest.raises(KeyError):
        await unless_gone(Client().receive, fail())


async def test_cancelled_the_work_has_ended() -> None:
    work = Work()
    waiting = asyncio.create_task(unless_gone(Client().receive, work.run()))
    await work.begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.has_ended
