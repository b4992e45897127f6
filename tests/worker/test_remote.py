"""What a worker does with launchers whose jobs run elsewhere."""

import asyncio
from functools import partial
from pathlib import Path

import psycopg
import pytest
import structlog

from kernelbot.domain.errors import JobRefused, SchedulerError
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.launchers.base import JobState, Left, Outcome
from kernelbot.protocol import Fault, JobSpec, Mode, Verdict
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from tests.fakes.host import result_of, words_of
from tests.fakes.scheduler import FakeLauncher, FakeScheduler
from tests.support.exhaustive import cases
from tests.support.launchers import FakeTable
from tests.support.postgres import WAITS_FOR_A_LOCK, wait_until_there_is
from tests.support.results import left_of
from tests.support.waiting import until, until_told
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

TEXT = b"# fake: accepted 0.5\n"


def settings(folder: Path, **schedulers: FakeScheduler) -> Settings:
    """One device, to be reached by the launchers in the order in which they are given."""
    quick = quick_settings(folder)
    device = DeviceSettings(name="CPU", launcher=tuple(schedulers), slots=4)
    tables = {name: FakeTable(scheduler=each) for name, each in schedulers.items()}
    return quick.model_copy(update={"devices": (device,), "launchers": tables})


def end_all(scheduler: FakeScheduler) -> None:
    for handle, spec in scheduler.specs.items():
        scheduler.end(handle, Outcome(JobState.FINISHED, left_of(result_of(spec, words_of(spec)))))


async def submit(world: World) -> Submission:
    return await world.submit(content=TEXT, mode=Mode.TEST)


@pytest.fixture
async def judged(world: World) -> World:
    await world.board()
    return world


async def becomes(world: World, submitted: Submission, wanted: RunState) -> None:
    async with asyncio.timeout(60):
        while await state(world, submitted) != wanted:  # noqa: ASYNC110  # as people ask
            await asyncio.sleep(0.01)


async def state(world: World, submitted: Submission) -> RunState:
    shown = await world.services.submissions.get(world.admin.user, submitted.id)
    return shown.runs[0].state


async def test_a_result_comes_from_afar(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, far.specs) == (Verdict.ACCEPTED, {})


async def test_states_change_without_progress(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        waiting = await state(judged, submitted)
        far.end(far.launches[0], Outcome(JobState.RUNNING))
        await becomes(judged, submitted, RunState.RUNNING)
        end_all(far)
        await finished(judged, submitted.id)
    assert waiting == RunState.DISPATCHED


async def test_a_device_fails_over_to_the_next_launcher(judged: World, tmp_path: Path) -> None:
    near, far = FakeScheduler(), FakeScheduler()
    near.down = "the controller doesn't answer"
    async with working(settings(tmp_path, near=near, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        (device, _) = await judged.services.devices.list_devices()
        end_all(far)
        await finished(judged, submitted.id)
    assert near.launches == []
    assert [(one.launcher, one.available, one.note) for one in device.launchers] == [
        ("near", False, "the controller doesn't answer"),
        ("far", True, ""),
    ]
    assert (device.available, device.launcher) == (True, "far")


@pytest.mark.exhaustive  # each run has test_a_device_fails_over_to_the_next_launcher
async def test_a_launcher_that_is_down_makes_submissions_wait(
    judged: World, tmp_path: Path
) -> None:
    far = FakeScheduler()
    far.down = "the controller doesn't answer"
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)

        async def is_away() -> bool:
            (device, _) = await judged.services.devices.list_devices()
            return device.note == far.down

        await until_told(is_away)
        (device, _) = await judged.services.devices.list_devices()
        place = await judged.services.submissions.queue_position(submitted.id)
        waiting = await state(judged, submitted)
        far.down = None
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (waiting, device.available, device.note) == (
        RunState.QUEUED,
        False,
        "the controller doesn't answer",
    )
    assert place == DeviceQueuePosition(1, None, device.note, device="CPU")
    assert (shown.verdict, shown.runs[0].attempts) == (Verdict.ACCEPTED, 1)


async def test_a_launcher_that_hangs_holds_up_no_other(judged: World, tmp_path: Path) -> None:
    near, far = FakeScheduler(), FakeScheduler()
    near.hangs = True
    async with working(settings(tmp_path, near=near, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert shown.verdict == Verdict.ACCEPTED


async def test_a_worker_that_stops_leaves_jobs_to_the_next(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    config = settings(tmp_path, far=far)
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs and far.polls)
    assert (far.cancelled, await state(judged, submitted)) == ([], RunState.DISPATCHED)
    async with working(config, judged.database.url):
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (shown.runs[0].attempts, len(far.launches)) == (1, 1)


@pytest.mark.exhaustive  # each run has test_a_worker_that_stops_leaves_jobs_to_the_next
async def test_so_does_cancelling_while_the_job_is_launched(judged: World, tmp_path: Path) -> None:
    """However many heartbeats say meanwhile that the attempt is closed."""
    far = FakeScheduler()
    far.launch_s = 1.0
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.launching)
        await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        await until(lambda: far.cancelled and not far.specs)
    assert (1, far.launches) == (len(far.launches), far.cancelled)


async def test_a_result_that_cannot_be_stored_holds_up_no_stop(
    judged: World, tmp_path: Path
) -> None:
    far = FakeScheduler()
    with psycopg.connect(judged.database.url) as other:
        async with asyncio.timeout(60):
            async with working(settings(tmp_path, far=far), judged.database.url):
                submitted = await submit(judged)
                await until(lambda: far.polls)
                await becomes(judged, submitted, RunState.DISPATCHED)
                other.execute("SELECT 1 FROM runs FOR UPDATE")
                end_all(far)
                await asyncio.to_thread(wait_until_there_is, judged.database.url, WAITS_FOR_A_LOCK)
    assert (RunState.DISPATCHED, 1) == (await state(judged, submitted), len(far.specs))


async def test_cancelling_reaches_the_scheduler(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        shown = await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        await until(lambda: far.cancelled)
    assert (shown.state, far.cancelled) == (SubmissionState.CANCELLED, far.launches)


async def test_a_forgotten_job_is_tried_again(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.polls)
        far.specs.clear()
        far.outcomes.clear()
        await until(lambda: len(far.launches) == 2)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].attempts) == (Verdict.ACCEPTED, 2)


async def test_a_retry_on_afar_stands_in_nobodys_way(judged: World, tmp_path: Path) -> None:
    far = FakeScheduler()
    async with working(settings(tmp_path, far=far), judged.database.url):
        await submit(judged)
        await until(lambda: far.polls)
        far.end(far.launches[0], Outcome(JobState.LOST, reason="a node failed"))
        await submit(judged)
        await until(lambda: len(far.launches) == 3)
        await until(lambda: len(far.specs) == 2)  # the lost one is forgotten after that is written


class Refusing(FakeScheduler):
    """Fails at launches as often as it was told to."""

    def __init__(self, error: SchedulerError, times: int) -> None:
        super().__init__()
        self.error = error
        self.times = times
        self.asked = 0


class RefusingLauncher(FakeLauncher):
    async def launch(self, spec: JobSpec) -> str:
        scheduler = self.scheduler
        assert isinstance(scheduler, Refusing)
        scheduler.asked += 1
        if scheduler.asked <= scheduler.times:
            raise scheduler.error
        return await super().launch(spec)


class RefusingTable(FakeTable):
    def build(self, place: object) -> RefusingLauncher:
        return RefusingLauncher(self.scheduler)


async def test_a_launch_that_the_scheduler_fails_is_repeated(judged: World, tmp_path: Path) -> None:
    far = Refusing(SchedulerError("try again"), 1)
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": RefusingTable(scheduler=far)}})
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].attempts, far.asked) == (Verdict.ACCEPTED, 1, 2)


async def test_a_job_that_is_refused_ends_at_once(judged: World, tmp_path: Path) -> None:
    sentence = "Requested node configuration is not available"
    far = Refusing(JobRefused(sentence), 99)
    config = settings(tmp_path, far=far)
    config = config.model_copy(update={"launchers": {"far": RefusingTable(scheduler=far)}})
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        shown = await finished(judged, submitted.id)
    run = shown.runs[0]
    assert (run.verdict, run.fault, run.attempts) == (Verdict.INTERNAL_ERROR, Fault.SCHEDULER, 1)
    assert (sentence in (run.message or ""), far.asked) == (True, 1)


async def test_an_attempt_of_a_launcher_that_is_gone_is_lost(judged: World, tmp_path: Path) -> None:
    near, far = FakeScheduler(), FakeScheduler()
    async with working(settings(tmp_path, near=near), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: near.polls)
    async with working(settings(tmp_path, far=far), judged.database.url):
        await until(lambda: far.specs)
        end_all(far)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].attempts) == (Verdict.ACCEPTED, 2)


async def test_no_handle_reaches_another_launcher(judged: World, tmp_path: Path) -> None:
    near, far = FakeScheduler(), FakeScheduler()
    config = settings(tmp_path, near=near, far=far)
    async with working(config, judged.database.url):
        first = await submit(judged)
        await until(lambda: near.polls)
    near.down = "maintenance"
    async with working(config, judged.database.url):
        second = await submit(judged)
        await until(lambda: far.specs)
        end_all(far)
        await finished(judged, second.id)
        near.down = None
        end_all(near)
        shown = await finished(judged, first.id)
    assert shown.verdict == Verdict.ACCEPTED
    assert {handle.split("/")[0] for handle in far.launches} == {"far"}


LIES = {
    "a score of nothing": {"score_s": 5e-324},
    "an interval elsewhere": {"score_ci95_s": [3.0, 4.0]},
    "another mode": {"mode": "test"},
    "no phases": {"phases": []},
}


@pytest.mark.parametrize("lie", cases(LIES.values(), always=[LIES["a score of nothing"]]), ids=LIES)
async def test_a_lie_is_not_ranked_and_another_attempt_is_made(
    judged: World, tmp_path: Path, lie: dict[str, object]
) -> None:
    far = FakeScheduler()
    with structlog.testing.capture_logs() as logs:
        async with working(settings(tmp_path, far=far), judged.database.url):
            submitted = await judged.submit(content=TEXT, mode=Mode.LEADERBOARD)
            await until(lambda: len(far.launches) == 1)
            end_all(far)
            await until(lambda: len(far.launches) == 2)
            handle = far.launches[1]  # the first may not be forgotten yet
            spec = far.specs[handle]
            left = left_of(result_of(spec, words_of(spec)), **lie)
            far.end(handle, Outcome(JobState.FINISHED, left))
            await until(lambda: len(far.launches) == 3)
            end_all(far)
            shown = await finished(judged, submitted.id)
    refused = [entry for entry in logs if entry["event"] == "result_refused"]
    assert [(False, 1), (True, 2)] == [(run.secret, run.attempts) for run in shown.runs]
    assert (Verdict.ACCEPTED, 0.5) == (shown.verdict, shown.score_s)
    assert [("far", far.launches[1])] == [(each["launcher"], each["handle"]) for each in refused]


def has_launched(scheduler: FakeScheduler, count: int) -> bool:
    return len(scheduler.launches) >= count


def is_of(spec: JobSpec, handle: str) -> bool:
    """Whether it is a job of the same run."""
    return spec.job_id.split(".")[0] == handle.split("/")[1].split(".")[0]


@pytest.mark.exhaustive
async def test_a_node_that_lies_each_time_is_never_the_authors_fault(
    judged: World, tmp_path: Path
) -> None:
    """What it sends can't even be read within the memory that there is for it."""
    far = FakeScheduler()
    hostile = Left(b"[" + b"[[[]]]," * (2 << 20) + b"[]]")
    async with working(settings(tmp_path, far=far), judged.database.url):
        submitted = await submit(judged)
        await until(lambda: far.specs)
        first = far.launches[0]
        far.end(first, Outcome(JobState.FINISHED, hostile))
        other = await submit(judged)
        for launched in (2, 3, 4):
            await until(partial(has_launched, far, launched))
            for handle, spec in list(far.specs.items()):
                honest_left = left_of(result_of(spec, words_of(spec)))
                left = hostile if is_of(spec, first) else honest_left
                far.end(handle, Outcome(JobState.FINISHED, left))
        shown = await finished(judged, submitted.id)
        honest = await finished(judged, other.id)
    run = shown.runs[0]
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM, 3) == (run.verdict, run.fault, run.attempts)
    assert (Verdict.ACCEPTED, 1) == (honest.verdict, honest.runs[0].attempts)
