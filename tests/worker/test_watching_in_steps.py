"""What a watcher does after each question, with a clock that the test sets."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from kernelbot.domain.errors import RateLimited, SchedulerError
from kernelbot.launchers.base import JobState, Outcome, Traits
from kernelbot.protocol import Fault
from kernelbot.worker.watching import Watcher
from tests.fakes.scheduler import FakeLauncher, FakeScheduler
from tests.support.virtual_time import run_virtually

TRAITS = Traits(shortest_poll_s=1.0, longest_poll_s=60.0, silence_s=100.0, wait_s=50.0, room_s=10.0)
RUNNING, WAITING = Outcome(JobState.RUNNING), Outcome(JobState.WAITING)


class Clock:
    """The watcher's clock, and what it draws by chance: the bounds, of which it gets the upper."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        self.drawn: list[tuple[float, float]] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(random, "uniform", self._upper)

    def _upper(self, low: float, high: float) -> float:
        self.drawn.append((low, high))
        return high


class Steps:
    """A watcher that asks when the test says so, and what the followers of its jobs were told."""

    def __init__(self, traits: Traits = TRAITS) -> None:
        self.scheduler = FakeScheduler()
        self.watcher = Watcher("far", FakeLauncher(self.scheduler, traits=traits))
        self.told: dict[str, list[Outcome]] = {}

    @contextlib.asynccontextmanager
    async def job(
        self, name: str, outcome: Outcome = RUNNING, **known: float
    ) -> AsyncIterator[None]:
        """A job that is followed while the block runs."""
        self.scheduler.end(name, outcome)
        told = self.told[name] = []

        async def follow() -> None:
            async for one in self.watcher.changes(name, 1, **known):
                told.append(one)  # noqa: PERF401 (as they come)

        task = asyncio.create_task(follow())
        await asyncio.sleep(0)
        yield
        task.cancel()

    async def ask(self) -> float:
        """Ask once; returns how long the pause is then."""
        await self.watcher._ask(self.watcher._open())
        for _ in range(3):
            await asyncio.sleep(0)
        return round(self.watcher._delay_s, 6)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.usefixtures("clock")
async def test_the_pause_grows_by_a_quarter_up_to_the_longest_while_nothing_changes() -> None:
    steps = Steps(replace(TRAITS, shortest_poll_s=0.01, longest_poll_s=0.03))
    async with steps.job("a"):
        pauses = [await steps.ask() for _ in range(4)]
        steps.scheduler.end("a", WAITING)
        assert [0.01, 0.02, 0.025, 0.03, 0.01] == [*pauses, await steps.ask()]


async def test_the_pause_after_a_failure_is_drawn_around_that(clock: Clock) -> None:
    steps = Steps(replace(TRAITS, longest_poll_s=2.0))
    async with steps.job("a"):
        steps.scheduler.down = "it is away"
        pauses = [await steps.ask() for _ in range(3)]
    assert ([1.5, 2.25, 2.4], {(0.8, 1.2)}) == (pauses, set(clock.drawn))


@pytest.mark.parametrize(("for_s", "pause_s"), [(30.0, 33.0), (60.0, 66.0), (3600.0, 66.0)])
async def test_a_limit_of_requests_is_waited_for_up_to_a_minute(
    clock: Clock, for_s: float, pause_s: float
) -> None:
    steps = Steps()
    async with steps.job("a"):
        steps.scheduler.crash = RateLimited("its rate limit is used up", for_s=for_s)
        assert pause_s == await steps.ask()
    assert [(1.0, 1.1)] == clock.drawn


@pytest.mark.usefixtures("clock")
async def test_a_launcher_that_crashes_twice_in_a_row_says_so() -> None:
    steps = Steps()
    crash = KeyError("id")
    said = []
    async with steps.job("a"):
        for what in (crash, None, crash, crash, SchedulerError("it is away"), None):
            steps.scheduler.crash = what
            await steps.ask()
            said.append(bool(steps.watcher.crashing))
    assert [False, False, False, True, True, False] == said


@pytest.mark.usefixtures("clock")
async def test_what_a_launcher_crashed_of_last_is_said() -> None:
    steps = Steps()
    async with steps.job("a"):
        for name in ("first", "second", "third"):
            steps.scheduler.crash = KeyError(name)
            await steps.ask()
        assert "its launcher failed: KeyError: 'third'" == steps.watcher.crashing


async def test_silence_is_told_once_and_lost_is_what_lasts_as_long_as_said(clock: Clock) -> None:
    steps = Steps()
    with capture_logs() as logs:
        async with steps.job("a"), steps.job("b"):
            await steps.ask()
            steps.scheduler.down = "it is away"
            for now_s in (2000.0, 2050.0, 2099.0):
                clock.now_s = now_s
                await steps.ask()
            assert [[RUNNING], [RUNNING]] == list(steps.told.values())
            steps.scheduler.down = None
            await steps.ask()
            steps.scheduler.down = "it is away again"
            for now_s in (3000.0, 3100.0):
                clock.now_s = now_s
                await steps.ask()
    lost = Outcome(JobState.LOST, reason="it is away again", fault=Fault.SCHEDULER)
    assert [[RUNNING, lost], [RUNNING, lost]] == list(steps.told.values())
    assert [
        ("scheduler_fails", "it is away"),
        ("scheduler_answers_again", None),
        ("scheduler_fails", "it is away again"),
        ("jobs_given_up", "it is away again"),
    ] == [(entry["event"], entry.get("error")) for entry in logs]
    assert ({"far"}, 2) == ({entry["launcher"] for entry in logs}, logs[-1]["jobs"])


async def test_after_a_limit_silence_begins_anew(clock: Clock) -> None:
    steps = Steps()
    with capture_logs() as logs:
        async with steps.job("a"):
            for now_s, error in (
                (2000.0, SchedulerError("it is away")),
                (2099.0, RateLimited("its limit", for_s=1.0)),
                (2100.0, RateLimited("its limit", for_s=1.0)),
                (2101.0, SchedulerError("it is away")),
                (2200.0, SchedulerError("it is away")),
                (2200.5, RateLimited("its limit", for_s=1.0)),
            ):
                clock.now_s, steps.scheduler.crash = now_s, error
                await steps.ask()
            assert [] == steps.told["a"]
    assert ["scheduler_fails", "requests_limited", "scheduler_fails", "requests_limited"] == [
        entry["event"] for entry in logs
    ]


@pytest.mark.parametrize(
    ("known", "outcome", "after_s", "reason"),
    [
        ({}, WAITING, 49.9, None),
        ({}, WAITING, 50.0, "it hasn't begun within 50 s"),
        ({"waited_s": 20.0}, WAITING, 29.9, None),
        ({"waited_s": 20.0}, WAITING, 30.0, "it hasn't begun within 50 s"),
        (
            {},
            Outcome(JobState.WAITING, reason="held"),
            50.0,
            "it hasn't begun within 50 s: held",
        ),
        ({}, RUNNING, 1e9, None),
        ({"longest_s": 30.0}, RUNNING, 39.9, None),
        (
            {"longest_s": 30.0},
            RUNNING,
            40.0,
            "it ran for more than 40 s and had no result: does its node hang?",
        ),
    ],
)
async def test_a_job_is_given_up_after_so_long(
    clock: Clock, known: dict[str, Any], outcome: Outcome, after_s: float, reason: str | None
) -> None:
    steps = Steps()
    async with steps.job("a", outcome, **known):
        await steps.ask()
        clock.now_s += after_s
        await steps.ask()
        told = [outcome]
        if reason is not None:
            told.append(Outcome(JobState.LOST, reason=reason, fault=Fault.SCHEDULER))
        assert told == steps.told["a"]


@pytest.mark.usefixtures("clock")
async def test_of_jobs_that_nobody_follows_nobody_is_told() -> None:
    steps = Steps()
    async with steps.job("a"):
        assert not steps.watcher._deliver({"other": RUNNING})
        assert steps.watcher._deliver({"other": RUNNING, "a": RUNNING})
        assert not steps.watcher._deliver({"a": RUNNING})


def test_a_new_job_shortens_the_pause_but_not_below_the_shortest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def asked_at() -> list[float]:
        steps, found = Steps(), list[float]()
        poll = steps.watcher._launcher.poll

        async def noted(*given: Any) -> Any:
            found.append(round(time.monotonic(), 4))
            return await poll(*given)

        monkeypatch.setattr(steps.watcher._launcher, "poll", noted)
        running = asyncio.create_task(steps.watcher.run())
        async with steps.job("a"):
            await asyncio.sleep(5.0)
            async with steps.job("b"):
                await asyncio.sleep(0.3)
                async with steps.job("c"):
                    await asyncio.sleep(1.0)
        running.cancel()
        return found

    # The pauses grow: 1 s, then 1.25 and 1.5625. A job that comes is asked about at once, and the
    # next one a second after that.
    assert [0.0, 1.0, 2.25, 3.8125, 5.0, 6.0] == run_virtually(monkeypatch, asked_at)
