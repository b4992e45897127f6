"""Runs that wait because those before them met what all of them would meet."""

from functools import partial
from pathlib import Path
from typing import LiteralString

import pytest

from kernelbot.domain.errors import DeviceRefused, NoRoom, RateLimited
from kernelbot.domain.states import MAX_ATTEMPTS, RunState
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.protocol import JobSpec, Verdict
from kernelbot.server.settings import Settings
from kernelbot.worker import brakes
from tests.fakes.scheduler import FakeLauncher, FakeScheduler
from tests.support.launchers import FakeTable
from tests.support.postgres import until_there_is
from tests.support.waiting import until, until_told
from tests.support.workers import finished, working
from tests.support.world import World
from tests.worker.test_remote import becomes, end_all, has_launched, settings, state, submit

_LOST: LiteralString = "SELECT count(*) AS count FROM attempts WHERE state = 'lost'"


class Picky(FakeScheduler):
    """Takes no job while there are `room` of them, or while it `refuses` all."""

    def __init__(self) -> None:
        super().__init__()
        self.room = 99
        self.refuses: str | None = None
        self.refusals = 0


class PickyLauncher(FakeLauncher):
    async def launch(self, spec: JobSpec) -> str:
        scheduler = self.scheduler
        assert isinstance(scheduler, Picky)
        if scheduler.refuses is not None:
            scheduler.refusals += 1
            raise DeviceRefused(scheduler.refuses)
        if len(scheduler.specs) >= scheduler.room:
            scheduler.refusals += 1
            raise NoRoom("you may have no more jobs")
        return await super().launch(spec)


class PickyTable(FakeTable):
    def build(self, place: object) -> PickyLauncher:
        return PickyLauncher(self.scheduler)


@pytest.fixture
async def judged(world: World) -> World:
    await world.board()
    return world


def picky(folder: Path, far: Picky) -> Settings:
    """One device, that only this scheduler has."""
    config = settings(folder, far=far)
    return config.model_copy(update={"launchers": {"far": PickyTable(scheduler=far)}})


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that nobody has to wait for."""
    monkeypatch.setattr(brakes, "FIRST_S", 0.05)
    monkeypatch.setattr(brakes, "LONGEST_S", 0.05)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that no test outlasts."""
    monkeypatch.setattr(brakes, "FIRST_S", 3600.0)


async def note(judged: World) -> str:
    """Why the device isn't available."""
    (device, _) = await judged.services.devices.list_devices()
    return device.note


async def lost(judged: World) -> int:
    """How many attempts count as lost."""
    async with judged.database.read() as session:
        row = await session.one(_LOST)
    assert row is not None
    return int(row["count"])


async def are_lost(judged: World, count: int) -> bool:
    return count == await lost(judged)


async def test_there_is_room_for_a_run_once_another_has_ended(
    judged: World, tmp_path: Path, patient: None
) -> None:
    far = Picky()
    far.room = 1
    async with working(picky(tmp_path, far), judged.database.url):
        first = await submit(judged)
        await until(lambda: far.specs)
        second = await submit(judged)

        async def is_told() -> bool:
            return await note(judged) == "you may have no more jobs"

        await until_told(is_told)
        await becomes(judged, second, RunState.QUEUED)
        end_all(far)
        await finished(judged, first.id)
        await until(partial(has_launched, far, 2))  # the first may not be forgotten yet
        end_all(far)
        shown = await finished(judged, second.id)
    assert Verdict.ACCEPTED == shown.verdict
    assert (0, 1) == (await lost(judged), far.refusals)


async def test_a_device_that_is_refused_keeps_its_runs(
    judged: World, tmp_path: Path, patient: None
) -> None:
    far = Picky()
    far.refuses = "no such account"
    async with working(picky(tmp_path, far), judged.database.url):
        submitted = [await submit(judged) for _ in range(3)]

        async def is_told() -> bool:
            return await note(judged) == "no such account"

        await until_told(is_told)
        for each in submitted:
            await becomes(judged, each, RunState.QUEUED)
    assert 1 == await lost(judged)


@pytest.mark.exhaustive  # each run has test_there_is_room_for_a_run_once_another_has_ended
async def test_a_run_outlives_more_refusals_than_it_has_attempts(
    judged: World, tmp_path: Path, impatient: None
) -> None:
    far = Picky()
    far.refuses = "no such account"
    async with working(picky(tmp_path, far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.refusals > MAX_ATTEMPTS + 1)
        far.refuses = None
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (Verdict.ACCEPTED, 1) == (shown.verdict, await lost(judged))


async def test_three_runs_that_are_lost_hold_back_the_fourth(
    judged: World, tmp_path: Path, patient: None
) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        for _ in range(3):
            await submit(judged)
        await until(lambda: 3 in far.polls)  # all are followed: they are lost in one moment
        for handle in far.launches:
            far.end(handle, Outcome(JobState.LOST, reason="its node is broken"))

        async def is_told() -> bool:
            return "runs were lost: its node is broken" in await note(judged)

        await until_told(is_told)
        await until_told(lambda: are_lost(judged, 3))
        fourth = await submit(judged)
        begun = len(far.launches)
        assert RunState.QUEUED == await state(judged, fourth)
    assert (3, 3) == (begun, len(far.launches))


@pytest.mark.exhaustive  # each run has test_there_is_room_for_a_run_once_another_has_ended
async def test_a_verdict_lets_all_go_on(judged: World, tmp_path: Path, impatient: None) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = [await submit(judged) for _ in range(3)]
        await until(lambda: 3 in far.polls)  # all are followed: they are lost in one moment
        for handle in far.launches:
            far.end(handle, Outcome(JobState.LOST, reason="its node is broken"))
        for trial in (4, 5, 6):
            await until(partial(has_launched, far, trial))
            far.end(far.launches[-1], Outcome(JobState.LOST, reason="its node is broken"))
        await until(partial(has_launched, far, 7))
        end_all(far)
        await until(partial(has_launched, far, 9))
        end_all(far)
        verdicts = {(await finished(judged, each.id)).verdict for each in submitted}

        async def is_told() -> bool:  # by the next heartbeat
            return await note(judged) == ""

        await until_told(is_told)
    assert ({Verdict.ACCEPTED}, 3) == (verdicts, await lost(judged))


@pytest.mark.exhaustive  # each run has test_there_is_room_for_a_run_once_another_has_ended
async def test_a_limit_after_a_lost_answer_leaves_no_job_behind(
    judged: World, tmp_path: Path, patient: None
) -> None:
    far = FakeScheduler()
    far.is_mute = True
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.launches)
        far.crash = RateLimited("its rate limit is used up", for_s=0.01)
        await becomes(judged, submitted, RunState.QUEUED)
        far.is_mute, far.crash = False, None
        await until(lambda: far.cancelled)
    assert (far.launches, 0) == (far.cancelled, await lost(judged))


async def test_why_a_job_waits_is_told(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    events = "SELECT 1 FROM events WHERE kind = 'dispatched' AND data ->> 'reason' = 'held'"
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        far.end(far.launches[0], Outcome(JobState.WAITING, reason="held"))
        async with judged.database.read() as session:
            await until_there_is(session, events)
        assert RunState.DISPATCHED == await state(judged, submitted)
        end_all(far)
        await finished(judged, submitted.id)
