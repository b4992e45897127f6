"""What is tried again."""

import asyncio
import contextlib
import time
from itertools import pairwise

import psycopg
import pytest

from kernelbot.domain.errors import DeviceRefused, JobRefused, NoRoom, SchedulerError, Unavailable
from kernelbot.store.database import Database
from kernelbot.store.timeouts import DatabaseTimeouts
from kernelbot.worker import retries
from kernelbot.worker.retries import (
    cancel_until_ended,
    jittered,
    set_or_after,
    until_available,
    with_retries,
)
from tests.support.virtual_time import run_virtually


async def test_a_step_that_the_database_ended_is_done_again(database_url: str) -> None:
    tried = asyncio.Event()
    async with Database(database_url, limits=DatabaseTimeouts(locked_s=0.05)) as database:

        async def step() -> int:
            try:
                async with database.write() as session:
                    return await session.do("UPDATE platform SET duel_places = duel_places")
            finally:
                tried.set()

        with psycopg.connect(database_url) as other:
            other.execute("LOCK TABLE platform")
            stepping = asyncio.create_task(until_available(step))
            await tried.wait()
        assert 1 == await stepping


async def test_who_misses_a_cancellation_is_cancelled_again() -> None:
    async def deaf() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        await asyncio.sleep(60)

    tasks = [asyncio.create_task(deaf()), asyncio.create_task(asyncio.sleep(60))]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await cancel_until_ended(tasks, 0.01)
    assert [True, True] == [task.cancelled() for task in tasks]


async def test_what_failed_is_left_to_whoever_waits_for_it() -> None:
    async def fails() -> None:
        raise ValueError

    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await cancel_until_ended([task])
    assert isinstance(task.exception(), ValueError)


class Step:
    """Fails as often as it was told to."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error = error
        self.times = times
        self.asked = 0

    async def __call__(self) -> int:
        self.asked += 1
        if self.asked <= self.times:
            raise self.error
        return self.asked


async def test_a_scheduler_that_fails_is_asked_again_for_as_long_as_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "_LAUNCH_FIRST_S", 0.0)
    assert 21 == await with_retries(Step(SchedulerError("it is away"), 20), 600.0)


def test_each_pause_is_longer_than_the_one_before_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "jittered", lambda delay_s: delay_s)

    async def waited() -> list[float]:
        begun_s = [time.monotonic()]
        await with_retries(Step(SchedulerError("it is away"), 6), 600.0)
        begun_s.append(time.monotonic())
        await until_available(Step(Unavailable("it is away"), 7))
        begun_s.append(time.monotonic())
        return [round(end - start, 2) for start, end in pairwise(begun_s)]

    of_scheduler, of_database = [0.5, 1.5, 4.5, 10, 10, 10], [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2]
    assert [sum(of_scheduler), round(sum(of_database), 2)] == run_virtually(monkeypatch, waited)


def test_what_has_failed_for_as_long_as_said_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "jittered", lambda delay_s: delay_s)

    async def asked() -> int:
        step = Step(SchedulerError("it is away"), 9)
        with pytest.raises(SchedulerError, match="it is away"):
            await with_retries(step, 2.0)  # 0.5 s and 1.5 s later
        return step.asked

    assert 3 == run_virtually(monkeypatch, asked)


def test_who_misses_a_cancellation_is_cancelled_again_each_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def deaf() -> None:
        for _ in range(3):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)

    async def waited() -> float:
        task = asyncio.create_task(deaf())
        await asyncio.sleep(0)
        await cancel_until_ended([task])
        return round(time.monotonic(), 3)

    assert 2.0 == run_virtually(monkeypatch, waited)


def test_an_event_is_waited_for_no_longer_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waited() -> list[tuple[bool, float]]:
        event, found = asyncio.Event(), []
        for delay_s in (-1.0, 0.0, 0.25):
            begun_s = time.monotonic()
            came = await set_or_after(event, delay_s)
            found.append((came, round(time.monotonic() - begun_s, 2)))
        event.set()
        return [*found, (await set_or_after(event, 0.25), 0.0)]

    assert [(False, 0.0), (False, 0.0), (False, 0.25), (True, 0.0)] == run_virtually(
        monkeypatch, waited
    )


def test_no_two_pauses_are_alike() -> None:
    pauses = [jittered(10.0) for _ in range(50)]
    assert (50, True) == (len(set(pauses)), all(5.0 <= pause <= 15.0 for pause in pauses))


async def test_then_what_it_says_is_raised() -> None:
    step = Step(SchedulerError("it is away"), 9)
    with pytest.raises(SchedulerError, match="it is away"):
        await with_retries(step, 0.0)
    assert 1 == step.asked


@pytest.mark.parametrize("error", [JobRefused("no"), DeviceRefused("no"), NoRoom("no")])
async def test_a_refusal_is_raised_at_once(error: SchedulerError) -> None:
    step = Step(error, 1)
    with pytest.raises(type(error)):
        await with_retries(step, 600.0)
    assert 1 == step.asked
