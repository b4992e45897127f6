import asyncio

import pytest

from kernelbot.library.ends import cancel, result_of


class Work:
    """Ends once it may, also if it is cancelled; a second cancellation would interrupt it."""

    def __init__(self) -> None:
        self.begun, self.stopping, self.may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.ended = False

    async def run(self) -> int:
        """Raises nothing of its own."""
        self.begun.set()
        try:
            await self.may_end.wait()
        finally:
            self.stopping.set()
            await self.may_end.wait()
            self.ended = True
        return 7


async def a_while() -> None:
    """As long as whoever is ready to go on needs for that."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_result_is_given_and_a_failure_raised() -> None:
    async def fail() -> int:
        raise ValueError("no")

    work = Work()
    work.may_end.set()
    assert 7 == await result_of(asyncio.create_task(work.run()))
    with pytest.raises(ValueError, match="no"):
        await result_of(asyncio.create_task(fail()))


async def test_whoever_is_cancelled_again_and_again_returns_after_the_end() -> None:
    work = Work()
    waiting = asyncio.create_task(result_of(asyncio.create_task(work.run())))
    await work.begun.wait()
    for _ in range(3):
        waiting.cancel()
        await a_while()
    assert (False, False) == (waiting.done(), work.ended)
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.ended


async def test_what_somebody_else_has_cancelled_is_waited_for() -> None:
    work = Work()
    task = asyncio.create_task(work.run())
    await work.begun.wait()
    task.cancel()
    await work.stopping.wait()
    cancelling = asyncio.create_task(cancel((task,)))
    await a_while()
    assert not cancelling.done()
    work.may_end.set()
    await cancelling
    assert work.ended


async def test_a_task_that_is_cancelled_elsewhere_is_a_cancellation() -> None:
    work = Work()
    task = asyncio.create_task(work.run())
    waiting = asyncio.create_task(result_of(task))
    await work.begun.wait()
    work.may_end.set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
