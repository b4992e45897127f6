import asyncio
import contextlib
import math
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from kernelbot.domain.errors import RateLimited
from kernelbot.launchers.base import JobState, Outcome, Traits
from kernelbot.protocol import EventKind, Fault, ProgressEvent
from kernelbot.worker.watching import Watcher
from tests.fakes.scheduler import TRAITS, FakeLauncher, FakeScheduler
from tests.support.virtual_time import run_virtually
from tests.support.waiting import until

RUNNING = Outcome(JobState.RUNNING)
LOST = Outcome(JobState.LOST, reason="gone")


@contextlib.asynccontextmanager
async def watching(scheduler: FakeScheduler, traits: Traits = TRAITS) -> AsyncIterator[Watcher]:
    watcher = Watcher("far", FakeLauncher(scheduler, traits=traits))
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def states(watcher: Watcher, handle: str) -> list[JobState]:
    async with asyncio.timeout(60):
        return [outcome.state async for outcome in watcher.changes(handle, 1)]


@contextlib.asynccontextmanager
async def followed(watcher: Watcher, handle: str) -> AsyncIterator[None]:
    """A job that is followed while the block runs."""

    async def follow() -> None:
        async for _ in watcher.changes(handle, 1):
            pass

    told = asyncio.create_task(follow())
    try:
        yield
    finally:
        told.cancel()


async def test_every_change_is_told_once() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", Outcome(JobState.WAITING))
    async with watching(scheduler) as watcher:
        told = asyncio.create_task(states(watcher, "a"))
        await until(lambda: len(scheduler.polls) > 3)
        scheduler.end("a", RUNNING)
        before = len(scheduler.polls)
        await until(lambda: len(scheduler.polls) > before + 3)
        scheduler.end("a", LOST)
        assert await told == [JobState.WAITING, JobState.RUNNING, JobState.LOST]


async def test_a_thousand_jobs_take_one_question_at_a_time() -> None:
    scheduler = FakeScheduler()
    names = [f"job {number}" for number in range(1000)]
    for name in names:
        scheduler.end(name, RUNNING)
    async with watching(scheduler) as watcher:
        told = [asyncio.create_task(states(watcher, name)) for name in names]
        await until(lambda: 1000 in scheduler.polls)
        asked = len(scheduler.polls)
        for name in names:
            scheduler.end(name, LOST)
        ended = await asyncio.gather(*told)
    assert ended == [[JobState.RUNNING, JobState.LOST]] * 1000
    assert len(scheduler.polls) <= asked + 2


async def test_a_job_that_runs_for_ever_is_lost() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    traits = replace(TRAITS, room_s=0.0)
    async with watching(scheduler, traits) as watcher, asyncio.timeout(60):
        changes = watcher.changes("a", 1, longest_s=0.05)
        told = [outcome async for outcome in changes]
    assert [JobState.RUNNING, JobState.LOST] == [one.state for one in told]
    assert (Fault.SCHEDULER, True) == (told[-1].fault, "does its node hang?" in told[-1].reason)


@pytest.mark.parametrize("room_s", [3600.0, math.inf])
async def test_one_that_may_run_so_long_goes_on(room_s: float) -> None:
    """For ever, if its launcher ends it."""
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    async with watching(scheduler, replace(TRAITS, room_s=room_s)) as watcher:
        told = asyncio.create_task(_states_of_a_short_one(watcher, "a"))
        await until(lambda: len(scheduler.polls) > 3)
        scheduler.end("a", Outcome(JobState.FINISHED))
        assert [JobState.RUNNING, JobState.FINISHED] == await told


async def _states_of_a_short_one(watcher: Watcher, handle: str) -> list[JobState]:
    return [outcome.state async for outcome in watcher.changes(handle, 1, longest_s=0.0)]


async def test_a_job_that_waits_again_has_not_run() -> None:
    watcher = Watcher("far", FakeLauncher(FakeScheduler()))
    told = asyncio.create_task(states(watcher, "a"))
    await until(watcher._open)
    watcher._deliver({"a": RUNNING})
    ran_since = watcher._followed["a"].running_since
    watcher._deliver({"a": Outcome(JobState.WAITING)})
    assert (False, None) == (ran_since is None, watcher._followed["a"].running_since)
    told.cancel()


async def test_a_limit_of_requests_is_no_silence() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    scheduler.crash = RateLimited("its rate limit is used up", for_s=0.01)
    async with watching(scheduler, replace(TRAITS, silence_s=0.0)) as watcher:
        told = asyncio.create_task(states(watcher, "a"))
        await until(lambda: len(scheduler.polls) > 3)
        scheduler.crash = None
        await until(lambda: len(scheduler.polls) > 6)
        scheduler.end("a", LOST)
        assert [JobState.RUNNING, JobState.LOST] == await told


async def test_silence_before_a_limit_is_over_with_it() -> None:
    """Who says that there is a limit answers."""
    scheduler = FakeScheduler()
    watcher = Watcher("far", FakeLauncher(scheduler))
    told = asyncio.create_task(states(watcher, "a"))
    await until(watcher._open)
    scheduler.down = "it is away"
    await watcher._ask(["a"])
    was_silent = watcher._failing_since is not None
    scheduler.crash = RateLimited("its rate limit is used up", for_s=0.01)
    await watcher._ask(["a"])
    assert (True, None) == (was_silent, watcher._failing_since)
    told.cancel()


async def test_it_is_told_once() -> None:
    scheduler = FakeScheduler()
    scheduler.crash = RateLimited("its rate limit is used up", for_s=0.01)
    with capture_logs() as logs:
        async with watching(scheduler) as watcher:
            told = asyncio.create_task(states(watcher, "a"))
            await until(lambda: len(scheduler.polls) > 3)
            told.cancel()
    assert ["requests_limited"] == [entry["event"] for entry in logs]


CRASHED = "its launcher failed: KeyError: 'id'"


async def test_a_launcher_that_crashes_again_and_again_says_so_until_it_answers() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    scheduler.crash = KeyError("id")
    async with watching(scheduler) as watcher:
        told = asyncio.create_task(states(watcher, "a"))
        await until(lambda: watcher.crashing == CRASHED)
        scheduler.crash = None
        await until(lambda: not watcher.crashing)
        scheduler.end("a", LOST)
        await told


async def test_a_crash_of_one_moment_and_silence_are_none_of_that() -> None:
    scheduler = FakeScheduler()
    watcher = Watcher("far", FakeLauncher(scheduler))
    told = asyncio.create_task(states(watcher, "a"))
    await until(watcher._open)
    scheduler.crash = KeyError("id")
    await watcher._ask(["a"])
    scheduler.crash, scheduler.down = None, "it is away"
    for _ in range(3):
        await watcher._ask(["a"])
    assert "" == watcher.crashing
    told.cancel()


async def test_without_jobs_nobody_knows_whether_it_would_crash_again() -> None:
    """Else no run would ever be begun again."""
    scheduler = FakeScheduler()
    scheduler.crash = KeyError("id")
    async with watching(scheduler, replace(TRAITS, silence_s=0.0)) as watcher:
        assert [JobState.LOST] == await states(watcher, "a")
        assert [JobState.LOST] == await states(watcher, "b")
        assert "" == watcher.crashing


async def test_a_job_that_comes_after_silence_has_patience_of_its_own() -> None:
    scheduler = FakeScheduler()
    scheduler.down = "it is away"
    async with watching(scheduler, replace(TRAITS, silence_s=0.0)) as watcher:
        assert [JobState.LOST] == await states(watcher, "a")
        await until(lambda: watcher._failing_since is None)


async def reasons(watcher: Watcher, handle: str, waited_s: float = 0.0) -> list[str]:
    async with asyncio.timeout(60):
        return [outcome.reason async for outcome in watcher.changes(handle, 1, waited_s)]


async def test_what_a_job_waits_for_is_told_when_it_changes() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", Outcome(JobState.WAITING, reason="JobHeldUser"))
    async with watching(scheduler) as watcher:
        told = asyncio.create_task(reasons(watcher, "a"))
        await until(lambda: len(scheduler.polls) > 3)
        scheduler.end("a", Outcome(JobState.WAITING, reason="PartitionTimeLimit"))
        before = len(scheduler.polls)
        await until(lambda: len(scheduler.polls) > before + 3)
        scheduler.end("a", LOST)
        assert ["JobHeldUser", "PartitionTimeLimit", "gone"] == await told


async def test_a_job_that_waits_for_too_long_is_lost() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", Outcome(JobState.WAITING, reason="PartitionTimeLimit"))
    async with watching(scheduler) as watcher:
        (reason,) = await reasons(watcher, "a", 90_000.0)
    assert "it hasn't begun within 24 h: PartitionTimeLimit" == reason


async def test_a_job_that_has_begun_takes_as_long_as_it_does() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    async with watching(scheduler) as watcher:
        told = asyncio.create_task(reasons(watcher, "a", 90_000.0))
        await until(lambda: len(scheduler.polls) > 3)
        scheduler.end("a", LOST)
        assert ["", "gone"] == await told


def test_nobody_is_asked_before_a_limit_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """But once a minute."""

    async def asked() -> list[list[int]]:
        scheduler = FakeScheduler()
        scheduler.crash = RateLimited("its rate limit is used up", for_s=3600.0)
        async with watching(scheduler) as watcher, followed(watcher, "a"):
            await until(lambda: scheduler.polls)
            async with followed(watcher, "b"):
                await asyncio.sleep(59)
                before = list(scheduler.polls)
                await asyncio.sleep(8)  # the pause is a tenth longer at most
                return [before, scheduler.polls]

    assert [[1], [1, 2]] == run_virtually(monkeypatch, asked)


def test_nothing_is_asked_while_nothing_is_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked() -> int:
        scheduler = FakeScheduler()
        async with watching(scheduler) as watcher:
            await states(watcher, "unknown")
            before = len(scheduler.polls)
            await asyncio.sleep(3600)
            return len(scheduler.polls) - before

    assert 0 == run_virtually(monkeypatch, asked)


def test_the_pause_grows_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def asked() -> int:
        scheduler = FakeScheduler()
        scheduler.end("a", RUNNING)
        traits = Traits(shortest_poll_s=0.01, longest_poll_s=60)
        async with watching(scheduler, traits) as watcher, followed(watcher, "a"):
            await asyncio.sleep(1)
            return len(scheduler.polls)

    # After 10 ms for what is new, 20 ms, 25, 31, 39 ...: the sum is a second after a dozen.
    assert 13 == run_virtually(monkeypatch, asked)


async def test_late_progress_is_passed_on() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    event = ProgressEvent(EventKind.STARTED)
    async with watching(scheduler) as watcher:
        changes = watcher.changes("a", 1)
        assert (await anext(changes)).events == ()
        scheduler.end("a", Outcome(JobState.RUNNING, events=(event,)))
        assert (await anext(changes)).events == (event,)


async def test_a_scheduler_that_fails_for_a_while_loses_nothing() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    async with watching(scheduler) as watcher:
        told = asyncio.create_task(states(watcher, "a"))
        await until(lambda: scheduler.polls)
        scheduler.down = "the controller restarts"
        asked = len(scheduler.polls)
        await until(lambda: len(scheduler.polls) > asked + 1)
        scheduler.down = None
        scheduler.end("a", LOST)
        assert await told == [JobState.RUNNING, JobState.LOST]


async def test_a_scheduler_that_fails_for_too_long_loses_its_jobs_by_its_own_fault() -> None:
    scheduler = FakeScheduler()
    scheduler.down = "the controller is gone"
    traits = replace(TRAITS, silence_s=0.3)
    async with watching(scheduler, traits) as watcher, asyncio.timeout(60):
        outcomes = [outcome async for outcome in watcher.changes("a", 1)]
    assert outcomes == [
        Outcome(JobState.LOST, reason="the controller is gone", fault=Fault.SCHEDULER)
    ]


async def test_a_launcher_that_crashes_is_asked_again() -> None:
    scheduler = FakeScheduler()
    scheduler.end("a", RUNNING)
    with capture_logs() as logs:
        async with watching(scheduler) as watcher:
            told = asyncio.create_task(states(watcher, "a"))
            await until(lambda: scheduler.polls)
            scheduler.crash = KeyError("id")
            asked = len(scheduler.polls)
            await until(lambda: len(scheduler.polls) > asked + 2)
            scheduler.crash = None
            scheduler.end("a", LOST)
            assert await told == [JobState.RUNNING, JobState.LOST]
    crashes = [entry["exc_info"] for entry in logs if entry["event"] == "launcher_crashed"]
    assert [repr(KeyError("id"))] == [repr(error) for error in crashes]


async def test_a_launcher_that_crashes_for_too_long_loses_its_jobs_by_our_fault() -> None:
    scheduler = FakeScheduler()
    scheduler.crash = KeyError("id")
    traits = replace(TRAITS, silence_s=0.3)
    async with watching(scheduler, traits) as watcher, asyncio.timeout(60):
        outcomes = [outcome async for outcome in watcher.changes("a", 1)]
    reason = "its launcher failed: KeyError: 'id'"
    assert [Outcome(JobState.LOST, reason=reason, fault=Fault.PLATFORM)] == outcomes


async def fail_and_answer_again(scheduler: FakeScheduler) -> None:
    scheduler.fails_once = "a moment of its own"
    await until(lambda: scheduler.fails_once is None)
    answered = len(scheduler.polls)
    await until(lambda: len(scheduler.polls) > answered + 1)


def test_failures_between_which_a_scheduler_answered_are_not_one_long_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def told() -> list[JobState]:
        scheduler = FakeScheduler()
        scheduler.end("a", RUNNING)
        async with watching(scheduler, replace(TRAITS, silence_s=20)) as watcher:
            told = asyncio.create_task(states(watcher, "a"))
            await fail_and_answer_again(scheduler)
            await asyncio.sleep(30)
            await fail_and_answer_again(scheduler)
            scheduler.end("a", Outcome(JobState.FINISHED))
            return await told

    assert [JobState.RUNNING, JobState.FINISHED] == run_virtually(monkeypatch, told)
