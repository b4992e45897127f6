import asyncio

import pytest

from kernelbot.library.once import Once


def always(_result: int) -> bool:
    return True


async def test_what_several_wait_for_is_done_once() -> None:
    begun = list[int]()

    async def work() -> int:
        begun.append(1)
        await asyncio.sleep(0)
        return 7

    once = Once[int](always)
    found = await asyncio.gather(*(once.get("a", work) for _ in range(3)), once.get("b", work))
    assert ([7, 7, 7, 7], 2) == (found, len(begun))
    assert (7, 2) == (await once.get("a", work), len(begun))


async def test_what_does_not_last_is_done_again() -> None:
    begun = list[int]()

    async def work() -> int:
        begun.append(1)
        return len(begun)

    once = Once[int](lambda result: result > 1)
    assert [1, 2, 2] == [await once.get("a", work) for _ in range(3)]


async def test_a_failure_is_raised_and_not_kept() -> None:
    async def fail() -> int:
        raise ValueError("no")

    async def work() -> int:
        return 7

    once = Once[int](always)
    with pytest.raises(ValueError, match="no"):
        await once.get("a", fail)
    assert 7 == await once.get("a", work)


async def test_work_goes_on_while_somebody_waits_for_it() -> None:
    may_end, ended = asyncio.Event(), list[str]()

    async def work() -> int:
        try:
            await may_end.wait()
        finally:
            ended.append("ended")
        return 7

    once = Once[int](always)
    first, second = (asyncio.create_task(once.get("a", work)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    assert [] == ended
    may_end.set()
    assert 7 == await second


async def test_work_that_nobody_waits_for_has_ended_when_the_last_goes() -> None:
    ended = list[str]()

    async def work() -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")
        return 7

    once = Once[int](always)
    waiting = asyncio.create_task(once.get("a", work))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert ["ended"] == ended
