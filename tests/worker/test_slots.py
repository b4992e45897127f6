import asyncio

from hypothesis import given
from hypothesis import strategies as st

from kernelbot.worker.slots import DeviceSlots


async def _occupy(
    slots: DeviceSlots, alone: bool, seen: list[tuple[int, int]], now: list[bool]
) -> None:
    async with slots.hold(alone=alone):
        now.append(alone)
        seen.append((len(now), sum(now)))
        await asyncio.sleep(0)
        now.remove(alone)


@given(st.integers(1, 4), st.lists(st.booleans(), max_size=12))
def test_places_are_never_overdrawn_and_the_lone_are_alone(count: int, loners: list[bool]) -> None:
    async def everyone() -> list[tuple[int, int]]:
        slots, seen, now = DeviceSlots(count), list[tuple[int, int]](), list[bool]()
        await asyncio.gather(*(_occupy(slots, alone, seen, now) for alone in loners))
        return seen

    seen = asyncio.run(everyone())
    assert len(loners) == len(seen)
    assert all(inside <= count and (inside == 1 or alone == 0) for inside, alone in seen)


async def test_who_waits_for_all_goes_before_newcomers() -> None:
    slots, order = DeviceSlots(2), list[str]()

    async def come(name: str, alone: bool) -> None:
        async with slots.hold(alone=alone):
            order.append(name)

    async with slots.hold(alone=False):
        lone = asyncio.create_task(come("lone", True))
        await asyncio.sleep(0)
        newcomer = asyncio.create_task(come("newcomer", False))
        await asyncio.sleep(0)
    await asyncio.gather(lone, newcomer)
    assert ["lone", "newcomer"] == order


async def test_one_who_stops_waiting_blocks_nobody() -> None:
    slots = DeviceSlots(1)
    async with slots.hold(alone=False):
        lone = asyncio.create_task(slots.hold(alone=True).__aenter__())
        await asyncio.sleep(0)
        lone.cancel()
        await asyncio.wait([lone])
    async with asyncio.timeout(60), slots.hold(alone=False):
        pass


async def test_who_waits_behind_one_who_stops_waiting_goes_on() -> None:
    slots = DeviceSlots(2)
    async with slots.hold(alone=False):
        lone = asyncio.create_task(slots.hold(alone=True).__aenter__())
        await asyncio.sleep(0)
        newcomer = asyncio.create_task(slots.hold(alone=False).__aenter__())
        await asyncio.sleep(0)
        lone.cancel()
        async with asyncio.timeout(60):
            await newcomer
