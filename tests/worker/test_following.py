"""What may interrupt the following of an attempt, and when: see `Stage`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import EventKind, ProgressEvent
from kernelbot.server.settings import Settings
from tests.fakes.scheduler import TRAITS, FakeLauncher, FakeScheduler
from tests.support.launchers import FakeTable
from tests.support.postgres import until_there_is
from tests.support.waiting import until
from tests.support.workers import finished, opened_worker, working
from tests.support.world import World
from tests.worker.test_remote import end_all, settings, submit


@pytest.fixture
async def judged(world: World) -> World:
    await world.board()
    return world


@contextlib.asynccontextmanager
async def _tidying(judged: World, folder: Path) -> AsyncIterator[tuple[FakeScheduler, Settings]]:
    """A scheduler that forgets its only job, whose result is stored, as soon as it may; and the
    settings for a worker that is started by then."""
    far = FakeScheduler()
    far.may_forget.clear()
    yield far, settings(folder, far=far)
    far.may_forget.set()
    await until(lambda: not far.specs)


async def _store_a_result(judged: World, far: FakeScheduler) -> int:
    """Returns the run when its job is being forgotten."""
    submitted = await submit(judged)
    await until(lambda: far.specs)
    end_all(far)
    shown = await finished(judged, submitted.id)
    await until(lambda: far.forgetting)
    return shown.runs[0].id


def _tasks() -> dict[str, asyncio.Task[object]]:
    return {task.get_name(): task for task in asyncio.all_tasks()}


def _is_cancelled(name: str) -> bool:
    """Whether the task was told to end, or has ended."""
    task = _tasks().get(name)
    return task is None or task.cancelling() > 0


async def test_a_heartbeat_does_not_interrupt_tidying_up(judged: World, tmp_path: Path) -> None:
    async with _tidying(judged, tmp_path) as (far, config), working(config, judged.database.url):
        await _store_a_result(judged, far)
        async with judged.database.write() as session:
            await session.do("UPDATE workers SET heartbeat_at = now() - interval '1 minute'")
        async with judged.database.read() as session:
            beaten = "SELECT 1 FROM workers WHERE heartbeat_at > now() - interval '1 minute'"
            await until_there_is(session, beaten)
        far.may_forget.set()
        await until(lambda: not far.specs)


async def test_an_announcement_does_not_interrupt_tidying_up(judged: World, tmp_path: Path) -> None:
    """Everybody is woken as well after a pause of the connection, and when it is made."""
    async with _tidying(judged, tmp_path) as (far, config), working(config, judged.database.url):
        run = await _store_a_result(judged, far)
        async with judged.database.write() as session:
            await session.one("SELECT pg_notify('kernelbot_cancelled', %(id)s)", {"id": str(run)})
        await until(lambda: f"ownership {run}" not in _tasks())
        far.may_forget.set()
        await until(lambda: not far.specs)


async def test_a_stop_does_not_interrupt_tidying_up(judged: World, tmp_path: Path) -> None:
    async with _tidying(judged, tmp_path) as (far, config):
        hasty = config.model_copy(
            update={"worker": config.worker.model_copy(update={"grace_s": 0.0})}
        )
        stop = asyncio.Event()
        async with opened_worker(hasty, judged.database.url) as worker:
            task = asyncio.create_task(worker.run(stop))
            run = await _store_a_result(judged, far)
            stop.set()
            await until(lambda: _is_cancelled(f"run {run}"))
            far.may_forget.set()
            await task


FIRST = ProgressEvent(EventKind.CASE, index=0)
LAST = ProgressEvent(EventKind.CASE, index=1)
LIVE = ((FIRST,), (LAST, ProgressEvent(EventKind.FINISHED)))


async def _moments(judged: World, submission_id: int) -> dict[str, set[datetime]]:
    """By what was told of a submission, when: what is of one transaction has one moment."""
    statement = (
        "SELECT kind || coalesce(data->>'index', '') AS told, array_agg(created_at) AS moments"
        " FROM events WHERE submission_id = %(id)s GROUP BY 1 ORDER BY min(id)"
    )
    async with judged.database.read() as session:
        rows = await session.all(statement, {"id": submission_id})
    return {row["told"]: set(row["moments"]) for row in rows}


async def test_the_last_progress_is_stored_with_the_verdict(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    far.live = LIVE
    far.may_tell.clear()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        end_all(far)
        far.may_tell.set()
        await finished(judged, submitted.id)
    told = await _moments(judged, submitted.id)
    assert ["queued", "dispatched", "running", "case0", "case1", "finished"] == list(told)
    assert (told["case1"], True) == (
        told["finished"],
        told["case0"] < told["case0"] | told["case1"],
    )


async def test_the_last_progress_is_told_if_the_verdict_takes_its_time(
    judged: World, tmp_path: Path
) -> None:
    far = FakeScheduler()
    far.live = LIVE
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        async with judged.database.read() as session:
            await until_there_is(session, "SELECT 1 FROM events WHERE data->>'index' = '1'")
        end_all(far)
        await finished(judged, submitted.id)
    told = await _moments(judged, submitted.id)
    assert ["queued", "dispatched", "running", "case0", "case1", "finished"] == list(told)


class LateTable(FakeTable):
    """A scheduler that may show a job late."""

    def build(self, place: LauncherPlace) -> FakeLauncher:
        return FakeLauncher(self.scheduler, place.name, replace(TRAITS, late_s=600.0))


async def test_a_job_of_which_nobody_wrote_down_the_handle_isnt_launched_again(
    judged: World, tmp_path: Path
) -> None:
    """Its worker was killed, and the scheduler doesn't show it yet."""
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": LateTable(scheduler=far)}})
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
    async with judged.database.write() as session:
        await session.do(
            "UPDATE attempts SET handle = NULL, state = 'launching', owner = 'killed',"
            " heartbeat_at = '-infinity'"
        )
    far.is_late = True
    async with working(config, judged.database.url):
        await until(lambda: far.looks)
        far.is_late = False
        polled = len(far.polls)
        await until(lambda: len(far.polls) > polled)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (1, 1) == (len(far.launches), shown.runs[0].attempts)


async def test_what_another_worker_took_over_is_not_forgotten(
    judged: World, tmp_path: Path
) -> None:
    """It is the other's to store."""
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    rarely = config.worker.model_copy(update={"heartbeat_s": 600.0, "stale_s": 1200.0})
    async with working(config.model_copy(update={"worker": rarely}), judged.database.url):
        await submit(judged)
        await until(lambda: far.polls)
        async with judged.database.write() as session:
            await session.do("UPDATE attempts SET owner = 'another'")
        end_all(far)
        await until(lambda: not any(name.startswith("run ") for name in _tasks()))
    assert ([], 1) == (far.cancelled, len(far.specs))
