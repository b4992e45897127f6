import asyncio
from pathlib import Path

import pytest

from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.launchers.base import Availability
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.protocol import EventKind, Fault, Mode, Verdict
from kernelbot.server import work
from tests.fakes.scheduler import FakeLauncher, FakeScheduler
from tests.support.exhaustive import cases
from tests.support.waiting import until, until_told
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> World:
    await world.board()
    return world


async def test_an_accepted_submission_takes_its_place(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: accepted 0.5\n")
        shown = await finished(judged, submitted.id)
    assert (Verdict.ACCEPTED, 0.5, 1) == (shown.verdict, shown.score_s, shown.place)


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
async def test_every_sample_is_kept(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: accepted 0.5\n")
        shown = await finished(judged, submitted.id)
    result = shown.runs[1].result
    assert result is not None
    assert result.phases[-1].workloads[0].samples_ns == (0.5e9, 0.5e9, 0.5e9)


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
async def test_every_sample_can_be_downloaded(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: accepted 0.5\n")
        await finished(judged, submitted.id)
    mine = await judged.services.submissions.measured(judged.ada.user, submitted.id)
    whole = await judged.services.submissions.measured(judged.admin.user, submitted.id)
    assert [(0.5e9,) * 3] == [load.samples_ns for load in mine]
    assert [(True, None)] == [(load.secret, load.spec) for load in mine]
    assert [(True, "size: 10000; seed: 7")] == [(load.secret, load.spec) for load in whole]


async def test_what_an_author_prints_may_hold_anything(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: wrong_answer\n", mode=Mode.TEST)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].message) == (
        Verdict.WRONG_ANSWER,
        "seeds\u2400 and ? more",
    )


async def test_progress_reaches_followers_in_order(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        events = judged.services.submissions.events(judged.ada.user, submitted.id)
        kinds = [event.kind async for event in events]
    assert kinds == [
        RunState.QUEUED,
        RunState.DISPATCHED,
        RunState.RUNNING,
        EventKind.PHASE_STARTED,
        RunState.FINISHED,
    ]


async def test_a_secret_run_tells_its_author_nothing(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: secret time_limit\n")
        await finished(judged, submitted.id)
    shown = await judged.services.submissions.get(judged.ada.user, submitted.id)
    secret = shown.runs[1]
    assert (secret.verdict, secret.result) == (Verdict.WRONG_ANSWER, None)
    assert "seeds" not in (secret.message or "")


async def test_the_events_of_a_secret_run_tell_nothing(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: secret time_limit\n")
        await finished(judged, submitted.id)
    events = judged.services.submissions.events(judged.ada.user, submitted.id)
    secret = [event async for event in events if event.secret]
    assert secret
    assert all(isinstance(event.kind, RunState) for event in secret)
    assert "time_limit" not in str(secret)


async def test_a_lost_attempt_is_tried_again(judged: World, tmp_path: Path) -> None:
    text = f"# fake: die-until {tmp_path / 'deaths'} 2\n".encode()
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=text, mode=Mode.TEST)
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].attempts) == (Verdict.ACCEPTED, 3)


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
@pytest.mark.parametrize("behaviour", cases(["die", "garbage"], always=["garbage"]))
async def test_the_third_loss_is_our_fault(judged: World, tmp_path: Path, behaviour: str) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        text = f"# fake: {behaviour}\n".encode()
        submitted = await judged.submit(content=text, mode=Mode.TEST)
        shown = await finished(judged, submitted.id)
    run = shown.runs[0]
    assert (run.verdict, run.fault, run.attempts) == (Verdict.INTERNAL_ERROR, Fault.PLATFORM, 3)


async def test_a_dead_host_takes_no_other_job_with_it_for_good(
    judged: World, tmp_path: Path
) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        await judged.submit(content=b"# fake: die\n", mode=Mode.TEST)
        other = await judged.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        shown = await finished(judged, other.id)
    assert shown.verdict == Verdict.ACCEPTED


async def test_a_problem_that_cannot_be_read_holds_nobody_up(world: World, tmp_path: Path) -> None:
    await world.board("unreadable")
    broken = await world.submit(board="unreadable", mode=Mode.TEST)
    async with world.database.write() as session:
        await session.do("ALTER TABLE problem_versions DISABLE TRIGGER USER")  # it refuses that
        await session.do("UPDATE problem_versions SET definition = '{}'")
        await session.do("ALTER TABLE problem_versions ENABLE TRIGGER USER")
    await world.board("readable")
    good = await world.submit(board="readable", content=b"# fake: accepted\n", mode=Mode.TEST)
    async with working(quick_settings(tmp_path), world.database.url):
        shown = [await finished(world, submitted.id) for submitted in (broken, good)]
    assert [Verdict.INTERNAL_ERROR, Verdict.ACCEPTED] == [one.verdict for one in shown]
    assert "can't be read" in (shown[0].runs[0].message or "")


async def test_a_running_submission_can_be_cancelled(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path, slots=1), judged.database.url):
        submitted = await judged.submit(content=b"# fake: sleep 60 accepted\n", mode=Mode.TEST)
        await _running(judged, submitted.id)
        cancelled = await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        following = await judged.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        shown = await finished(judged, following.id)
    assert (cancelled.state, shown.verdict) == (SubmissionState.CANCELLED, Verdict.ACCEPTED)


async def test_a_worker_that_stops_hands_back_what_runs(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: sleep 60 accepted\n", mode=Mode.TEST)
        await _running(judged, submitted.id)
    shown = await judged.services.submissions.get(judged.ada.user, submitted.id)
    assert shown.runs[0].state == RunState.QUEUED


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
async def test_so_does_what_waits_for_its_slot(judged: World, tmp_path: Path) -> None:
    """What was handed back runs alone the next time."""
    numbers: list[int] = []
    followed: set[str] = set()
    for _ in range(2):
        text = f"# fake: sleep 60 accepted\n# {len(numbers)}".encode()
        sent = await judged.submit(content=text, mode=Mode.TEST)
        numbers.append(sent.id)
        followed.add(f"run {sent.runs[0].id}")
        async with working(quick_settings(tmp_path), judged.database.url):
            # The database knows before the worker that a run was claimed.
            await until(lambda: followed <= {task.get_name() for task in asyncio.all_tasks()})
    assert [RunState.QUEUED] * 2 == await _states(judged, numbers)


async def _states(world: World, numbers: list[int]) -> list[RunState]:
    get = world.services.submissions.get
    return [(await get(world.admin.user, number)).runs[0].state for number in numbers]


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
async def test_handing_back_counts_as_no_failure(judged: World, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    text = f"# fake: until {go_on} accepted\n".encode()
    submitted = await judged.submit(content=text, mode=Mode.TEST)
    for _ in range(4):
        async with working(quick_settings(tmp_path), judged.database.url):
            await _running(judged, submitted.id)
    go_on.touch()
    async with working(quick_settings(tmp_path), judged.database.url):
        shown = await finished(judged, submitted.id)
    assert (shown.verdict, shown.runs[0].attempts) == (Verdict.ACCEPTED, 5)


async def test_nothing_is_left_of_jobs_that_were_stored(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        submitted = await judged.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        await finished(judged, submitted.id)
    left = [path.name for path in (tmp_path / "jobs").iterdir() if path.is_dir()]
    assert left == ["hosts"]


async def test_a_device_without_a_worker_says_so(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        await until_told(lambda: _is_served(judged))
        found = await judged.services.devices.list_devices()
    assert [(d.name, d.available, bool(d.note)) for d in found] == [
        ("CPU", True, False),
        ("H100", False, True),
    ]


async def test_a_worker_that_has_stopped_is_gone_at_once(judged: World, tmp_path: Path) -> None:
    async with working(quick_settings(tmp_path), judged.database.url):
        await until_told(lambda: _is_served(judged))
    assert not await _is_served(judged)


async def _is_served(world: World) -> bool:
    return any(one.available for one in await world.services.devices.list_devices())


async def _running(world: World, submission_id: int) -> None:
    async with asyncio.timeout(60):
        while True:
            shown = await world.services.submissions.get(world.admin.user, submission_id)
            if shown.runs[0].state == RunState.RUNNING:
                return
            await asyncio.sleep(0.02)


class BrokenLauncher(LocalLauncher):
    """Fails in a way that no launcher may, once it has been asked `good` times."""

    good = 0
    closed = False

    async def availability(self, device: str) -> Availability:
        self.good -= 1
        if self.good < 0:
            raise RuntimeError(device)
        return Availability(True)

    async def close(self) -> None:
        self.closed = True
        await super().close()


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
@pytest.mark.parametrize("good", cases([0, 1], always=[1]), ids=["at the start", "later"])
async def test_a_launcher_that_crashes_when_it_is_asked_ends_no_worker_and_is_closed(
    judged: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    launcher = BrokenLauncher(LocalSettings(tmp_path / "jobs", {}))
    launcher.good = good
    monkeypatch.setattr(work, "launchers", lambda *_: {"local": launcher})
    async with working(quick_settings(tmp_path), judged.database.url):
        await until(lambda: launcher.good < -1)  # so it is asked again
    assert launcher.closed


class ClosesBadly(LocalLauncher):
    """Fails at its end in a way that no launcher may."""

    async def close(self) -> None:
        await super().close()
        raise RuntimeError("a'; echo x")


@pytest.mark.exhaustive  # each run has test_a_lost_attempt_is_tried_again
async def test_a_launcher_that_fails_at_its_end_keeps_no_other_open(
    judged: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, other = quick_settings(tmp_path), FakeLauncher(FakeScheduler())
    commands = {"CPU": settings.host_command(settings.device_configs()[0])}
    badly = ClosesBadly(LocalSettings(tmp_path / "jobs", commands))
    monkeypatch.setattr(work, "launchers", lambda *_: {"local": badly, "far": other})
    async with working(settings, judged.database.url):
        await until_told(lambda: _is_served(judged))
    assert (True, False) == (other.closed, await _is_served(judged))
