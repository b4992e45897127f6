"""Real processes are killed with SIGKILL at each step; every submission ends with one result."""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.domain.errors import Unavailable
from kernelbot.domain.states import RunState
from kernelbot.protocol import Mode, Verdict
from kernelbot.server.judge_once import HARNESS
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.worker.worker import Worker
from tests.support.building import compiled_sort
from tests.support.exhaustive import cases
from tests.support.gates import Gate, closed_gate
from tests.support.problems import CORRECT
from tests.support.ranked import ranked
from tests.support.waiting import until
from tests.support.workers import (
    finished,
    kill_fake_hosts,
    opened_worker,
    quick_settings,
    signal_hosts,
    worker_process,
    working,
)
from tests.support.world import World, open_world
from tests.worker.test_building import Cluster, submit


async def _results(world: World) -> dict[str, int]:
    """How often what must be there once is there."""
    counts = {
        "attempts": "SELECT count(*) AS n FROM attempts WHERE state = 'finished'",
        "events": "SELECT count(*) AS n FROM events WHERE kind = 'finished'",
        "measurements": "SELECT count(*) AS n FROM measurements",
    }
    found = {}
    async with world.database.read() as session:
        for name, statement in counts.items():
            row = await session.one(statement)
            assert row is not None
            found[name] = row["n"]
    return found


async def _duel_ended(world: World) -> None:
    async with asyncio.timeout(60):
        while True:
            (duel,) = await world.services.duels.list_duels(None, "sort")
            if duel.ended_at is not None:
                return
            await asyncio.sleep(0.02)


ONCE_PER_RUN = {"attempts": 2, "events": 2, "measurements": 1}
"""Of a ranked submission, which has two runs, and is timed in one."""


@pytest.mark.parametrize("gate", cases(Gate, always=[Gate.LAUNCHED]))
async def test_a_worker_killed_at_a_gate(world: World, tmp_path: Path, gate: Gate) -> None:
    await world.board()
    settings = quick_settings(tmp_path)
    with closed_gate(world.database.url, gate) as closed:
        submitted = await world.submit(content=b"# fake: accepted 0.5\n")
        with worker_process(settings, world.database.url) as worker:
            await asyncio.to_thread(closed.wait_for_someone)
            worker.kill()
    with worker_process(settings, world.database.url):
        shown = await finished(world, submitted.id)
    assert (shown.verdict, shown.place) == (Verdict.ACCEPTED, 1)
    assert await _results(world) == ONCE_PER_RUN


@pytest.mark.exhaustive
async def test_a_result_that_was_written_is_not_judged_again(world: World, tmp_path: Path) -> None:
    await world.board()
    settings = quick_settings(tmp_path)
    with closed_gate(world.database.url, Gate.RESULT_WRITTEN) as closed:
        submitted = await world.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        with worker_process(settings, world.database.url) as worker:
            await asyncio.to_thread(closed.wait_for_someone)
            worker.kill()
    with worker_process(settings, world.database.url):
        shown = await finished(world, submitted.id)
    judged = (tmp_path / "jobs" / "judged.log").read_text().split()
    assert (shown.runs[0].attempts, len(judged)) == (1, 1)


@pytest.mark.exhaustive
async def test_a_worker_killed_while_a_job_runs(world: World, tmp_path: Path) -> None:
    await world.board()
    settings = quick_settings(tmp_path)
    go_on = tmp_path / "go-on"
    submitted = await world.submit(content=f"# fake: until {go_on} accepted 0.5\n".encode())
    with worker_process(settings, world.database.url) as worker:
        await _running(world, submitted.id)
        worker.kill()
    go_on.touch()
    with worker_process(settings, world.database.url):
        shown = await finished(world, submitted.id)
    assert shown.verdict == Verdict.ACCEPTED
    assert await _results(world) == ONCE_PER_RUN


@pytest.mark.parametrize("gate", [Gate.LAUNCHED, Gate.RESULT_WRITTEN])
@pytest.mark.exhaustive
async def test_a_worker_killed_while_it_judges_a_duel(
    world: World, tmp_path: Path, gate: Gate
) -> None:
    await world.board()
    await ranked(world, 1.0, relative_error=0.1)
    better = await ranked(world, 0.95, relative_error=0.1, says="# duel: 0.9 0.88 0.92")
    settings = quick_settings(tmp_path)
    with (
        closed_gate(world.database.url, gate) as closed,
        worker_process(settings, world.database.url) as worker,
    ):
        await asyncio.to_thread(closed.wait_for_someone)
        worker.kill()
    with worker_process(settings, world.database.url):
        await _duel_ended(world)
    page = await world.services.standings.page(None, "sort", None)
    counts = await _results(world)
    assert ([better], 1) == ([row.submission_id for row in page.standings], counts["attempts"])


# Each run has test_after_a_death_the_next_job_finds_a_new_host (launchers/test_local.py)
@pytest.mark.exhaustive
async def test_a_host_killed_while_a_job_runs(world: World, tmp_path: Path) -> None:
    await world.board()
    settings = quick_settings(tmp_path)
    async with working(settings, world.database.url):
        submitted = await world.submit(content=b"# fake: sleep 1 accepted 0.5\n")
        await _running(world, submitted.id)
        kill_fake_hosts()
        shown = await finished(world, submitted.id)
    assert shown.verdict == Verdict.ACCEPTED
    assert await _results(world) == ONCE_PER_RUN


@pytest.mark.exhaustive
@pytest.mark.timeout(300)  # two hosts start, of which each may need a minute on a busy machine
async def test_a_host_stopped_while_a_job_runs(world: World, tmp_path: Path) -> None:
    """The real harness, which a signal has stopped for good: the attempt is lost, the next one
    finds another host."""
    await world.board()
    quick = quick_settings(tmp_path)
    settings = quick.model_copy(
        update={
            "harness_command": HARNESS,
            "worker": quick.worker.model_copy(update={"host_stale_s": 6.0}),
        }
    )
    async with working(settings, world.database.url):
        slow = b"import time\ntime.sleep(1)\n" + CORRECT
        submitted = await world.submit(content=slow, mode=Mode.TEST)
        await _running(world, submitted.id)
        assert 1 == signal_hosts(signal.SIGSTOP, of=b"--build-cache\0" + bytes(tmp_path))
        shown = await finished(world, submitted.id, timeout_s=200)
    assert (Verdict.ACCEPTED, 2) == (shown.verdict, shown.runs[0].attempts)


async def test_two_workers_judge_everything_once(world: World, tmp_path: Path) -> None:
    await world.board()
    quick = quick_settings(tmp_path)
    # None of them dies, so one that a busy machine lets wait isn't to be taken for dead.
    patient = quick.worker.model_copy(update={"stale_s": 60.0})
    settings = quick.model_copy(update={"worker": patient})
    ids = [
        (await world.submit(content=b"# fake: accepted\n", mode=Mode.TEST)).id for _ in range(15)
    ]
    async with working(settings, world.database.url), working(settings, world.database.url):
        for submission_id in ids:
            await finished(world, submission_id)
    judged = Counter((tmp_path / "jobs" / "judged.log").read_text().split())
    assert (len(judged), set(judged.values())) == (15, {1})


@pytest.fixture
def own_postgres() -> Iterator[EmbeddedPostgres]:
    """A server that the test may stop."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-test-"))
    postgres = EmbeddedPostgres(folder / "postgres")
    try:
        migrate(postgres.start())
        yield postgres
    finally:
        postgres.remove()
        shutil.rmtree(folder, ignore_errors=True)


# Each run has test_a_worker_killed_at_a_gate, and test_a_database_that_is_away_is_a_page_too
# (web/test_site.py)
@pytest.mark.exhaustive
async def test_the_database_goes_away_while_jobs_run(
    own_postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with open_world(own_postgres.url("postgres")) as world:
        await world.board()
        async with working(quick_settings(tmp_path), world.database.url):
            go_on = tmp_path / "go-on"
            submitted = await world.submit(content=f"# fake: until {go_on} accepted 0.5\n".encode())
            await _running(world, submitted.id)
            await asyncio.to_thread(own_postgres.stop)
            go_on.touch()
            await until(lambda: list((tmp_path / "jobs").glob("*/result.json")))
            await asyncio.to_thread(own_postgres.start)
            shown = await finished(world, submitted.id)
            following = await world.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
            after = await finished(world, following.id)
        assert (shown.verdict, [run.attempts for run in shown.runs]) == (Verdict.ACCEPTED, [1, 1])
        assert after.verdict == Verdict.ACCEPTED


class StoppableWorker:
    """A worker that runs, and the database that it is over."""

    def __init__(self, worker: Worker, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(worker.run(self._stop))

    async def ends_without_database(self) -> bool:
        """Whether it does when it is told to stop, while that is away."""
        await asyncio.to_thread(self._postgres.stop)
        self._stop.set()
        done, _ = await asyncio.wait([self._task], timeout=60)
        await asyncio.to_thread(self._postgres.start)
        await self._task
        return bool(done)


@pytest.mark.exhaustive
@pytest.mark.parametrize("builder", ["shop", "local"])
async def test_a_worker_that_builds_ends_while_the_database_is_away(
    own_postgres: EmbeddedPostgres, tmp_path: Path, builder: str
) -> None:
    url, cluster = own_postgres.url("postgres"), Cluster(tmp_path)
    settings = cluster.settings()
    far, shop = settings.devices
    devices = (far, shop.model_copy(update={"launcher": (builder,)}))
    settings = settings.model_copy(update={"devices": devices})
    judged = tmp_path / "jobs" / "judged.log"
    async with open_world(url) as world:
        await world.services.boards.create(
            world.admin.user, compiled_sort(), name="sort", devices=("CPU",)
        )
        async with opened_worker(settings, url) as worker:
            running = StoppableWorker(worker, own_postgres)
            await submit(world, content=b"# builds: sleep 600 accepted\n")
            await until(lambda: cluster.shop.polls or judged.exists())
            assert await running.ends_without_database()


@pytest.mark.exhaustive  # each run has test_a_worker_killed_at_a_gate
async def test_so_does_one_that_has_just_begun(
    own_postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with opened_worker(quick_settings(tmp_path), own_postgres.url("postgres")) as worker:
        await asyncio.to_thread(own_postgres.stop)
        assert await StoppableWorker(worker, own_postgres).ends_without_database()


@pytest.mark.exhaustive
async def test_a_killed_database_server_is_revived(own_postgres: EmbeddedPostgres) -> None:
    async with open_world(own_postgres.url("postgres")) as world:
        await world.board()
        submitted = await world.submit()
        pid = int((own_postgres.folder / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(Unavailable):  # its shared memory is still in use
                    if await asyncio.to_thread(own_postgres.revive):
                        break
                await asyncio.sleep(0.1)
            while True:
                with contextlib.suppress(Unavailable):  # on a connection from before
                    shown = await world.services.submissions.get(world.ada.user, submitted.id)
                    break
        assert shown == submitted


async def _running(world: World, submission_id: int) -> None:
    async with asyncio.timeout(60):
        while True:
            shown = await world.services.submissions.get(world.admin.user, submission_id)
            if any(run.state == RunState.RUNNING for run in shown.runs):
                return
            await asyncio.sleep(0.02)
