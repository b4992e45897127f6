"""A scheduler's node that judges the public run of a ranked submission goes on with the secret one,
so that both have a GPU once."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelbot.launchers.base import JobState, Left, Outcome
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.protocol import JobSpec, Mode, RunResult, Vendor, Verdict
from kernelbot.protocol.several_results import results_to_wire
from kernelbot.runs.finishing import Finishing, Judged
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from tests.fakes.host import result_of, words_of
from tests.fakes.scheduler import FakeScheduler
from tests.support.exhaustive import cases
from tests.support.launchers import FakeTable
from tests.support.waiting import until
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

TEXT = b"# fake: accepted 0.5 0.49 0.51\n"
GoOn = Callable[[JobSpec], RunResult | None]
"""What a node leaves of what follows a job."""


def settings(folder: Path, far: FakeScheduler, **changes: Any) -> Settings:
    device = DeviceSettings(
        name="H100", vendor=Vendor.NVIDIA, arch="90a", launcher=("far",), slots=2, **changes
    )
    tables = {"far": FakeTable(scheduler=far)}
    quick = quick_settings(folder)
    return quick.model_copy(update={"devices": (device,), "launchers": tables})


@pytest.fixture
async def judged(world: World) -> World:
    await world.board(devices=("H100",))
    return world


def judge(job: JobSpec) -> RunResult:
    return result_of(job, words_of(job))


def go_on(job: JobSpec) -> RunResult | None:
    return judge(job.next_job) if job.next_job is not None else None


@contextlib.asynccontextmanager
async def nodes(far: FakeScheduler, goes_on: GoOn) -> AsyncIterator[list[JobSpec]]:
    """Nodes that end each job at once; the jobs, in the order in which they came."""
    jobs: list[JobSpec] = []

    async def work() -> None:
        while True:
            for handle, job in list(far.specs.items()):
                if job not in jobs:
                    jobs.append(job)
                    left = json.dumps(results_to_wire(judge(job), goes_on(job)))
                    far.end(handle, Outcome(JobState.FINISHED, Left(left.encode())))
            await asyncio.sleep(0.01)

    task = asyncio.create_task(work())
    try:
        yield jobs
    finally:
        task.cancel()


async def judge_ranked(
    world: World, folder: Path, goes_on: GoOn = go_on, **changes: Any
) -> tuple[Submission, list[JobSpec]]:
    """A ranked submission that has ended, and the jobs that its scheduler was given."""
    far = FakeScheduler()
    async with (
        nodes(far, goes_on) as jobs,
        working(settings(folder, far, **changes), world.database.url),
    ):
        submitted = await world.submit(content=TEXT)
        shown = await finished(world, submitted.id)
    assert far.specs == {}, "all is forgotten"
    return shown, jobs


async def test_one_job_of_a_schedulers_ends_both_runs(judged: World, tmp_path: Path) -> None:
    shown, jobs = await judge_ranked(judged, tmp_path)
    public, secret = shown.runs
    assert [(job.mode, job.secret) for job in jobs] == [(Mode.TEST, False)]
    assert (public.verdict, secret.verdict) == (Verdict.ACCEPTED, Verdict.ACCEPTED)
    assert (public.score_s, secret.score_s) == (None, 0.5)
    assert (public.attempts, secret.attempts) == (1, 1)


def leave_nothing(_job: JobSpec) -> None:
    """A node that was told to stop in between, or whose harness knows of nothing that follows."""


def leave_another(job: JobSpec) -> RunResult | None:
    """What can't be its result."""
    result = go_on(job)
    return None if result is None else replace(result, job_id="9.9.000000000000")


def leave_lost(job: JobSpec) -> RunResult | None:
    result = go_on(job)
    return None if result is None else replace(result, attempt_lost=True)


@pytest.mark.parametrize(
    "goes_on",
    cases([leave_nothing, leave_another, leave_lost], always=[leave_another]),
)
async def test_what_did_not_follow_has_a_job_of_its_own(
    judged: World, tmp_path: Path, goes_on: GoOn
) -> None:
    shown, jobs = await judge_ranked(judged, tmp_path, goes_on)
    assert [(job.mode, job.secret) for job in jobs] == [
        (Mode.TEST, False),
        (Mode.LEADERBOARD, True),
    ]
    assert [run.verdict for run in shown.runs] == [Verdict.ACCEPTED] * 2
    followed = jobs[0].follow_up
    assert followed is not None
    assert (followed.job_id, followed.seed) == (jobs[1].job_id, jobs[1].seed), "no seed is lost"


async def test_a_device_may_have_two_jobs_instead(judged: World, tmp_path: Path) -> None:
    _, jobs = await judge_ranked(judged, tmp_path, one_allocation=False)
    assert [(job.secret, job.follow_up) for job in jobs] == [(False, None), (True, None)]


async def test_who_never_takes_so_long_a_job_gets_two(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    far.longest_s = 500.0
    async with (
        nodes(far, go_on) as jobs,
        working(settings(tmp_path, far), judged.database.url),
    ):
        submitted = await judged.submit(content=TEXT)
        shown = await finished(judged, submitted.id)
    assert [(job.secret, job.follow_up) for job in jobs] == [(False, None), (True, None)]
    assert [run.verdict for run in shown.runs] == [Verdict.ACCEPTED] * 2


async def test_an_attempt_after_a_lost_one_has_a_node_for_itself(
    judged: World, tmp_path: Path
) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far), judged.database.url):
        submitted = await judged.submit(content=TEXT)
        await until(lambda: far.specs)
        ((handle, first),) = far.specs.items()
        far.end(handle, Outcome(JobState.LOST, reason="the node is gone"))
        await until(lambda: far.specs.keys() - {handle})
        async with nodes(far, go_on) as jobs:
            await finished(judged, submitted.id)
    assert first.follow_up is not None
    others = [job for job in jobs if job.job_id != first.job_id]
    assert [(job.secret, job.follow_up) for job in others] == [(False, None), (True, None)]


async def test_a_run_that_is_not_accepted_ends_alone(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with (
        nodes(far, go_on) as jobs,
        working(settings(tmp_path, far), judged.database.url),
    ):
        submitted = await judged.submit(content=b"# fake: wrong_answer\n")
        shown = await finished(judged, submitted.id)
    assert [run.verdict for run in shown.runs] == [Verdict.WRONG_ANSWER]
    assert len(jobs) == 1


@pytest.mark.exhaustive  # each run has test_one_job_of_a_schedulers_ends_both_runs
async def test_what_is_about_to_be_written_is_nobody_elses(
    judged: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long what comes before takes: its heartbeat goes on."""
    stale_s = quick_settings(tmp_path).worker.stale_s
    noticed = Finishing._noticed

    async def notice_late(finishing: Finishing, judged: Judged) -> tuple[Evidence, ...]:
        await asyncio.sleep(2 * stale_s)
        return await noticed(finishing, judged)

    monkeypatch.setattr(Finishing, "_noticed", notice_late)
    shown, jobs = await judge_ranked(judged, tmp_path)
    assert [job.secret for job in jobs] == [False]
    assert [run.verdict for run in shown.runs] == [Verdict.ACCEPTED] * 2
