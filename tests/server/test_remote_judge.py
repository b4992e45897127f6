"""Judging by a launcher without a server: what is left of a job, and of results that are none."""

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from kernelbot.launchers.base import NO_SIZES, JobState, Left, Outcome
from kernelbot.protocol import Fault, RunResult, Verdict
from kernelbot.server.remote_judge import RemoteJudge
from tests.fakes.scheduler import TRAITS, FakeLauncher, FakeScheduler
from tests.harness.jobs import SORT, a_job


class SizingLauncher(FakeLauncher):
    """Remembers how large results may be that it is asked for, of jobs that are over."""

    def __init__(self, scheduler: FakeScheduler) -> None:
        super().__init__(scheduler)
        self.sizes: list[int | None] = []

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        found = await super().poll(handles, most_bytes)
        self.sizes += [most_bytes.get(h) for h, outcome in found.items() if outcome.state.is_over]
        return found


async def launched(scheduler: FakeScheduler, count: int) -> str:
    """The handle of the job that was launched as number `count`."""
    async with asyncio.timeout(60):
        while len(scheduler.launches) < count:  # noqa: ASYNC110  # the fake tells nobody
            await asyncio.sleep(0.01)
    return scheduler.launches[count - 1]


async def judged_as(outcome: Outcome) -> tuple[RunResult, FakeScheduler, list[int | None]]:
    """What becomes of a job that ends so, each time."""
    scheduler = FakeScheduler()
    launcher = SizingLauncher(scheduler)
    judge = RemoteJudge("far", launcher, 1)
    judging = asyncio.create_task(judge.judge(a_job(SORT)))
    for number in (1, 2):
        scheduler.end(await launched(scheduler, number), outcome)
    result = await judging
    await judge.close()
    return result, scheduler, launcher.sizes


async def test_a_result_that_is_none_is_asked_for_twice_and_nobodys_fault() -> None:
    hostile = Outcome(JobState.FINISHED, Left(b'{"verdict": "accepted", "score_s": -1}'))
    result, scheduler, _ = await judged_as(hostile)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "This result was lost, twice" in result.failure.message
    assert ({}, {}) == (scheduler.specs, scheduler.outcomes)


async def test_a_result_is_brought_once_and_not_again_to_see_that_its_job_has_ended() -> None:
    _, _, sizes = await judged_as(Outcome(JobState.FINISHED, Left(b"no result")))
    assert 2 == sizes.count(0)
    assert 2 == len([size for size in sizes if size != 0])


async def test_a_job_that_nobody_waits_for_is_cancelled_and_forgotten() -> None:
    scheduler = FakeScheduler()
    judge = RemoteJudge("far", FakeLauncher(scheduler), 1)
    judging = asyncio.create_task(judge.judge(a_job(SORT)))
    handle = await launched(scheduler, 1)
    judging.cancel()
    while not scheduler.cancelled:  # noqa: ASYNC110  # the fake tells nobody
        await asyncio.sleep(0.01)
    assert not judging.done()  # it hasn't ended yet
    scheduler.end(handle, Outcome(JobState.LOST, reason="cancelled"))
    with contextlib.suppress(asyncio.CancelledError):
        await judging
    await judge.close()
    assert (True, [handle], {}) == (judging.cancelled(), scheduler.cancelled, scheduler.specs)


IMPATIENT = replace(TRAITS, silence_s=0)


async def test_a_job_that_was_launched_though_nobody_was_told_is_ended() -> None:
    scheduler = FakeScheduler()
    scheduler.is_mute = True
    judge = RemoteJudge("far", FakeLauncher(scheduler, traits=IMPATIENT), 1)
    judging = asyncio.create_task(judge.judge(a_job(SORT)))
    for number in (1, 2):
        handle = await launched(scheduler, number)
        async with asyncio.timeout(60):
            while handle not in scheduler.cancelled:  # noqa: ASYNC110  # the fake tells nobody
                await asyncio.sleep(0.01)
        scheduler.end(handle, Outcome(JobState.LOST, reason="cancelled"))
    result = await judging
    await judge.close()
    assert result.failure is not None
    assert "This result was lost, twice: no answer came." == result.failure.message
    assert {} == scheduler.specs


async def test_a_cluster_that_is_away_is_said_once_and_whether_a_job_is_left_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler = FakeScheduler()
    scheduler.down = "it is away"
    judge = RemoteJudge("far", FakeLauncher(scheduler, traits=IMPATIENT), 1)
    result = await judge.judge(a_job(SORT))
    await judge.close()
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "This result was lost, twice: it is away." == result.failure.message
    assert "Nobody knows whether a job was launched: it is away" in caplog.messages
