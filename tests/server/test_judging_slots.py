import asyncio

import pytest

from kernelbot.server.judging_slots import JudgingSlots


async def a_while() -> None:
    """As long as whoever is ready to go on needs for that."""
    for _ in range(5):
        await asyncio.sleep(0)


class Turns:
    """Who has had a slot, in order. Each keeps it until it may end."""

    def __init__(self, slots: JudgingSlots) -> None:
        self._slots = slots
        self.had: list[str] = []
        self.may_end = asyncio.Event()

    def wait(self, name: str, *, first: bool = False) -> asyncio.Task[None]:
        """A task that waits for a slot, has it, and gives it back."""

        async def have() -> None:
            async with self._slots.one(first=first):
                self.had.append(name)
                await self.may_end.wait()

        return asyncio.create_task(have())


async def test_they_come_in_order_behind_those_that_come_first() -> None:
    turns = Turns(JudgingSlots(1))
    tasks = [turns.wait("a"), turns.wait("b"), turns.wait("c")]
    await a_while()
    tasks.append(turns.wait("d", first=True))
    await a_while()
    assert ["a"] == turns.had
    turns.may_end.set()
    await asyncio.gather(*tasks)
    assert ["a", "d", "b", "c"] == turns.had


async def test_so_many_have_one_at_once() -> None:
    turns = Turns(JudgingSlots(2))
    tasks = [turns.wait(name) for name in "abc"]
    await a_while()
    assert ["a", "b"] == turns.had
    turns.may_end.set()
    await asyncio.gather(*tasks)


async def test_one_that_is_cancelled_while_it_waits_is_passed_over() -> None:
    turns = Turns(JudgingSlots(1))
    first, second, third = turns.wait("a"), turns.wait("b"), turns.wait("c")
    await a_while()
    second.cancel()
    await a_while()
    turns.may_end.set()
    await asyncio.gather(first, third)
    assert (["a", "c"], True) == (turns.had, second.cancelled())


async def test_one_that_is_cancelled_as_it_is_given_a_slot_gives_it_on() -> None:
    slots = JudgingSlots(1)
    await slots.acquire()
    given, other = asyncio.create_task(slots.acquire()), asyncio.create_task(slots.acquire())
    await a_while()
    slots.release()
    given.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given
    await other
    slots.release()
    await slots.acquire()
