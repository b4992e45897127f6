import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from kernelbot.library.feeding import reports_of


def begin(pair: float, number: int) -> "asyncio.Task[int]":
    async def work() -> int:
        if pair < 0:
            raise ValueError("no")
        await asyncio.sleep(pair)
        return number

    return asyncio.create_task(work())


async def test_reports_come_as_they_end() -> None:
    """Also of tasks that end in the same turn of the event loop."""
    order = [3, 7, 0, 5, 1, 6, 2, 4]
    may_end = [asyncio.Event() for _ in order]

    def waiting(pair: int, number: int) -> "asyncio.Task[int]":
        async def work() -> int:
            if number == len(order) - 1:
                for one in order:
                    may_end[one].set()
            await may_end[pair].wait()
            await asyncio.sleep(0)  # those that waited come here in the order of their events
            return number

        return asyncio.create_task(work())

    found = [number async for number in reports_of(range(len(order)), waiting, ahead=len(order))]
    assert [one for one in order if one != 7] == [number for number in found if number != 7]


async def test_no_pairs_make_no_reports() -> None:
    assert [] == [number async for number in reports_of([], begin, ahead=3)]


async def test_pairs_are_not_taken_while_nobody_takes_the_reports() -> None:
    taken = list[int]()

    def pairs() -> Iterator[float]:
        for number in range(100):
            taken.append(number)
            yield 0.0

    reports = reports_of(pairs(), begin, ahead=3)
    assert 0 == await anext(reports)
    await asyncio.sleep(0.05)
    assert len(taken) <= 4
    await reports.aclose()


async def test_a_report_does_not_wait_for_pairs_that_come_slowly() -> None:
    may_go_on = asyncio.Event()

    async def pairs() -> AsyncIterator[float]:
        yield 0.0
        await may_go_on.wait()
        yield 0.0

    reports = reports_of(pairs(), begin, ahead=3)
    assert 0 == await anext(reports)
    may_go_on.set()
    assert [1] == [number async for number in reports]


async def test_a_failure_ends_all_others() -> None:
    cancelled = list[float]()

    def noting(pair: float, number: int) -> "asyncio.Task[int]":
        task = begin(pair, number)
        task.add_done_callback(lambda ended: cancelled.append(pair) if ended.cancelled() else None)
        return task

    with pytest.raises(ValueError, match="no"):
        async for _ in reports_of([60.0, -1.0, 60.0], noting, ahead=3):
            pass
    assert {60.0} == set(cancelled)


async def test_what_the_pairs_raise_is_raised() -> None:
    def pairs() -> Iterator[float]:
        yield 60.0
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        async for _ in reports_of(pairs(), begin, ahead=3):
            pass
