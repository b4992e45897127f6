"""Jobs that can't be stopped when they are given up."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.domain.states import RunState
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import Verdict
from kernelbot.worker import unended
from kernelbot.worker.unended import UnendedJobs
from tests.fakes.scheduler import TRAITS, FakeLauncher, FakeScheduler
from tests.launchers.stages import a_job
from tests.support.launchers import FakeTable
from tests.support.waiting import until
from tests.support.workers import finished, working
from tests.support.world import World
from tests.worker.test_remote import becomes, end_all, settings, submit


async def test_a_job_is_stopped_and_forgotten() -> None:
    far = FakeScheduler()
    jobs = UnendedJobs("far", FakeLauncher(far))
    await jobs.end("1")
    assert (["1"], 1, 0) == (far.cancelled, far.forgetting, len(jobs))


async def test_what_cannot_be_stopped_now_is_stopped_later() -> None:
    far = FakeScheduler()
    far.down = "it is away"
    jobs = UnendedJobs("far", FakeLauncher(far))
    await jobs.end("1")
    await jobs.end("2")
    assert not await jobs.try_all()
    assert ([], 2) == (far.cancelled, len(jobs))
    far.down = None
    assert await jobs.try_all()
    assert ({"1", "2"}, 0) == (set(far.cancelled), len(jobs))


class Reluctant(FakeLauncher):
    """Forgets a job when it is asked again."""

    async def forget(self, handle: str) -> None:
        await super().forget(handle)
        if self.scheduler.forgetting == 1:
            raise SchedulerError("no answer came")


class ReluctantTable(FakeTable):
    def build(self, place: LauncherPlace) -> FakeLauncher:
        return Reluctant(self.scheduler)


async def test_what_cannot_be_forgotten_now_is_forgotten_later(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": ReluctantTable(scheduler=far)}})
    async with working(config, world.database.url):
        submitted = await submit(world)
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(world, submitted.id)
        await until(lambda: far.forgetting > 1)
    assert (Verdict.ACCEPTED, {}) == (shown.verdict, far.specs)


class Stubborn(FakeLauncher):
    """Never stops one of its jobs."""

    async def cancel(self, handle: str) -> None:
        if handle == "1":
            raise SchedulerError("it changes all the time")
        await super().cancel(handle)


async def test_one_that_never_can_be_stopped_is_in_nobodys_way() -> None:
    far = FakeScheduler()
    far.down = "it is away"
    jobs = UnendedJobs("far", Stubborn(far))
    for handle in ("1", "2", "3"):
        await jobs.end(handle)
    far.down = None
    assert [False, False] == [await jobs.try_all(), await jobs.try_all()]
    assert (["2", "3"], 1) == (far.cancelled, len(jobs))


async def test_it_is_given_up_after_a_day() -> None:
    now_s = 0.0
    jobs = UnendedJobs("far", Stubborn(FakeScheduler()), clock=lambda: now_s)
    await jobs.end("1")
    now_s = 90_000.0
    assert await jobs.try_all()
    assert 0 == len(jobs)


async def test_a_launcher_that_crashes_ends_nothing_else() -> None:
    far = FakeScheduler()
    far.crash = KeyError("id")
    jobs = UnendedJobs("far", FakeLauncher(far))
    await jobs.end("1")
    assert not await jobs.try_all()
    far.crash = None
    assert await jobs.try_all()


async def test_they_are_stopped_by_themselves_once_the_scheduler_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unended, "_FIRST_S", 0.01)
    far = FakeScheduler()
    far.down = "it is away"
    jobs = UnendedJobs("far", FakeLauncher(far))
    running = asyncio.create_task(jobs.run())
    try:
        for handle in ("1", "2"):
            await jobs.end(handle)
            far.down = None
            await until(lambda: not len(jobs))
            far.down = "it is away again"
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    assert ["1", "2"] == far.cancelled


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def test_a_job_of_which_no_answer_came_is_looked_for_and_stopped() -> None:
    far = FakeScheduler()
    far.is_mute = True
    job = a_job("accepted")
    with pytest.raises(SchedulerError):
        await FakeLauncher(far).launch(job)
    jobs = UnendedJobs("far", FakeLauncher(far))
    jobs.seek(job.job_id)
    far.down = "it is away"
    await jobs.look_for_all()
    assert 1 == len(jobs)
    far.down = None
    await jobs.look_for_all()
    assert await jobs.try_all()
    assert ([f"far/{job.job_id}"], 0) == (far.cancelled, len(jobs))


async def test_one_that_shows_late_is_stopped_then() -> None:
    far, clock, job = FakeScheduler(), Clock(), a_job("accepted")
    jobs = UnendedJobs("far", FakeLauncher(far), clock=clock)
    jobs.seek(job.job_id)
    await jobs.look_for_all()
    clock.now_s = 500.0
    await FakeLauncher(far).launch(job)
    await jobs.look_for_all()
    assert await jobs.try_all()
    assert [f"far/{job.job_id}"] == far.cancelled


@pytest.mark.parametrize(("may_appear", "at_s"), [(False, 0.0), (True, 600.0)])
async def test_one_that_does_not_show_is_sought_no_longer(may_appear: bool, at_s: float) -> None:
    clock = Clock()
    jobs = UnendedJobs("far", FakeLauncher(FakeScheduler()), clock=clock)
    jobs.seek("1.1.0a", may_appear=may_appear)
    await jobs.look_for_all()
    before = len(jobs)
    clock.now_s = at_s
    await jobs.look_for_all()
    assert (int(may_appear), 0) == (before, len(jobs))


async def test_it_is_sought_for_a_day_at_a_scheduler_that_never_answers() -> None:
    far, clock = FakeScheduler(), Clock()
    far.crash = KeyError("id")
    jobs = UnendedJobs("far", FakeLauncher(far), clock=clock)
    jobs.seek("1.1.0a")
    await jobs.look_for_all()
    before = len(jobs)
    clock.now_s = 90_000.0
    await jobs.look_for_all()
    assert (1, 0) == (before, len(jobs))


@pytest.fixture
async def judged(world: World) -> World:
    await world.board()
    return world


async def test_a_job_that_is_lost_is_stopped(judged: World, tmp_path: Path) -> None:
    """It may go on all the same."""
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        await submit(judged)
        await until(lambda: far.polls)
        far.end(far.launches[0], Outcome(JobState.LOST, reason="nobody knows it"))
        await until(lambda: len(far.launches) == 2)
        await until(lambda: far.cancelled)
    assert far.launches[:1] == far.cancelled


class HastyTable(FakeTable):
    """Its jobs are lost as soon as it doesn't answer."""

    def build(self, place: LauncherPlace) -> FakeLauncher:
        return FakeLauncher(self.scheduler, place.name, replace(TRAITS, silence_s=0.0))


@pytest.mark.exhaustive  # each run has test_a_job_that_is_lost_is_stopped
async def test_a_job_that_was_given_up_in_silence_is_stopped_after_it(
    judged: World, tmp_path: Path
) -> None:
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": HastyTable(scheduler=far)}})
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        far.down = "it is away"
        await becomes(judged, submitted, RunState.QUEUED)
        assert [] == far.cancelled
        far.down = None
        await until(lambda: far.launches[0] in far.cancelled)
        await until(lambda: len(far.launches) == 2)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (Verdict.ACCEPTED, 2) == (shown.verdict, shown.runs[0].attempts)


@pytest.mark.exhaustive  # each run has test_a_job_that_is_lost_is_stopped
async def test_a_launch_without_an_answer_leaves_no_job(
    judged: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unended, "_FIRST_S", 0.01)
    far = FakeScheduler()
    far.is_mute = True
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": HastyTable(scheduler=far)}})
    async with working(config, judged.database.url):
        await submit(judged)
        await until(lambda: far.launches)
        far.is_mute = False
        await until(lambda: far.launches[0] in far.cancelled)
        await until(lambda: len(far.launches) == 2)
    assert far.launches[:1] == far.cancelled


@pytest.mark.exhaustive  # each run has test_a_job_that_is_lost_is_stopped
async def test_a_worker_stops_what_those_before_it_could_not(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": HastyTable(scheduler=far)}})
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        far.down = "it is away"
        await becomes(judged, submitted, RunState.QUEUED)
    assert [] == far.cancelled
    far.down = None
    async with working(settings(tmp_path, far=far), judged.database.url):
        await until(lambda: far.launches[0] in far.cancelled)
