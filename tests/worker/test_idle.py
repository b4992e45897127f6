"""What is compiled in idle time, for authors to read, and what that never keeps waiting."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from kernelbot.harness.timing.turns import VARIABLE, Turns
from kernelbot.preflight.model import Preflight, PreflightOutcome
from kernelbot.protocol import EventKind, Mode, Vendor, Verdict
from kernelbot.runs.builds import store as builds
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from kernelbot.worker.idle import IdleTime
from tests.fakes.scheduler import FakeScheduler
from tests.support.launchers import FakeTable
from tests.support.problems import sort_problem
from tests.support.waiting import until
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World
from tests.worker.test_preflights import cuda_sort

QUIET_S = 3.0
"""Longer than a worker waits before it looks again."""


class Idle:
    """A GPU at `far` without a builder, and this machine's CPU."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.far = FakeScheduler()

    def settings(self, name: str = "a", *, preflight: bool = True) -> Settings:
        devices = (
            DeviceSettings(
                name="H100", vendor=Vendor.NVIDIA, arch="90a", launcher=("far",),
                preflight=preflight,
            ),
            DeviceSettings(name="CPU"),
        )  # fmt: skip
        changed = {"devices": devices, "launchers": {"far": FakeTable(scheduler=self.far)}}
        return quick_settings(self.folder / name).model_copy(update=changed)

    def compiled(self, name: str = "a") -> list[str]:
        """The ids of the jobs that a worker of this name began in idle time."""
        judged = self.folder / name / "jobs" / "judged.log"
        ids = judged.read_text().split() if judged.exists() else []
        return [one for one in ids if ".p" in one]

    def has_compiled(self, count: int) -> bool:
        """Whether so many jobs were begun."""
        return len(self.compiled()) == count


@pytest.fixture
def idle(tmp_path: Path) -> Idle:
    """The GPU is away, so that its runs wait."""
    found = Idle(tmp_path)
    found.far.down = "no GPU today"
    return found


@pytest.fixture
async def judged(world: World) -> World:
    create = world.services.boards.create
    await create(world.admin.user, cuda_sort(), name="cuda", devices=("H100",))
    sort = replace(sort_problem(), devices=("CPU",))
    await create(world.admin.user, sort, name="sort", devices=("CPU",))
    return world


async def waiting(world: World, content: str = "", mode: Mode = Mode.TEST) -> Submission:
    """A submission for the GPU."""
    return await world.submit(
        board="cuda", mode=mode, content=f"{content}\nint a;\n".encode(), file_name="fast.cu"
    )


async def reported(world: World, submission: Submission) -> Preflight:
    """The submission's report, once it has one."""
    async with asyncio.timeout(60.0):
        while not (found := await shown(world, submission)):  # noqa: ASYNC110  # no event for it
            await asyncio.sleep(0.02)
    return found[0]


async def shown(world: World, submission: Submission) -> tuple[Preflight, ...]:
    return (await world.services.submissions.get(world.ada.user, submission.id)).preflights


async def test_who_waits_for_a_gpu_reads_what_compilers_say(judged: World, idle: Idle) -> None:
    async with working(idle.settings(), judged.database.url):
        sent = await waiting(judged, mode=Mode.LEADERBOARD)
        events = judged.services.submissions.events(judged.ada.user, sent.id)
        said = ""
        async for event in events:
            if event.kind is EventKind.COMPILED:
                said = str(event.data["message"])
                break
        report = (await reported(judged, sent)).report
    assert ("H100", "CPU", PreflightOutcome.COMPILED, 40) == (
        report.gpu,
        report.compiled_on,
        report.outcome,
        report.kernels[0].figures.registers,
    )
    assert "By the compilers of CPU; those of H100 decide." in said


@pytest.mark.exhaustive  # each run has test_a_judging_is_not_kept_waiting
async def test_a_run_has_nothing_of_it(judged: World, idle: Idle) -> None:
    """What compilers say here decides nothing."""
    async with working(idle.settings(), judged.database.url):
        sent = await waiting(judged, "# builds: compile_error")
        report = (await reported(judged, sent)).report
        idle.far.down = None
        await until(lambda: idle.far.specs)
    (spec,) = idle.far.specs.values()
    assert (PreflightOutcome.REFUSED, None) == (report.outcome, spec.product)


async def test_a_judging_is_not_kept_waiting(judged: World, idle: Idle) -> None:
    """It begins beside what is compiled, which ends, and begins anew afterwards."""
    async with working(idle.settings(), judged.database.url):
        await waiting(judged, "# builds: sleep 600 accepted")
        await until(lambda: idle.compiled())
        sent = await judged.submit(mode=Mode.TEST, content=b"# fake: accepted\n")
        ended = await finished(judged, sent.id)
        await until(lambda: len(idle.compiled()) == 2)
    assert Verdict.ACCEPTED is ended.verdict


@pytest.mark.exhaustive  # each run has test_a_judging_is_not_kept_waiting
async def test_nothing_is_compiled_while_this_machine_judges(
    judged: World, idle: Idle, tmp_path: Path
) -> None:
    may_end = tmp_path / "may_end"
    async with working(idle.settings(), judged.database.url):
        run = await judged.submit(
            mode=Mode.TEST, content=f"# fake: until {may_end} accepted\n".encode()
        )
        log = idle.folder / "a" / "jobs" / "judged.log"
        await until(log.exists)
        sent = await waiting(judged)
        await asyncio.sleep(QUIET_S)
        meanwhile = idle.compiled()
        may_end.touch()
        await finished(judged, run.id)
        await reported(judged, sent)
    assert [] == meanwhile


@pytest.mark.exhaustive  # each run has test_a_report_that_cannot_be_read_ends_no_worker
@pytest.mark.parametrize(
    "verdict", [Verdict.INTERNAL_ERROR, Verdict.TIME_LIMIT], ids=["our fault", "a slow machine"]
)
async def test_what_says_nothing_of_the_gpus_machine_is_not_told(
    judged: World, idle: Idle, verdict: Verdict
) -> None:
    """Nor tried again."""
    async with working(idle.settings(), judged.database.url):
        sent = await waiting(judged, f"# builds: {verdict}")
        await until(lambda: idle.compiled())
        await asyncio.sleep(QUIET_S)
        assert ((), 1) == (await shown(judged, sent), len(idle.compiled()))


@pytest.mark.exhaustive  # each run has test_a_report_that_cannot_be_read_ends_no_worker
async def test_nothing_is_compiled_for_a_device_that_wants_none(judged: World, idle: Idle) -> None:
    async with working(idle.settings(preflight=False), judged.database.url):
        sent = await waiting(judged)
        await asyncio.sleep(QUIET_S)
        assert ((), []) == (await shown(judged, sent), idle.compiled())


async def test_a_report_that_cannot_be_read_ends_no_worker(
    judged: World, idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise ValueError("a'; echo x")

    monkeypatch.setattr("kernelbot.worker.idle.report_of_build_step", crash)
    async with working(idle.settings(), judged.database.url):
        sent = await waiting(judged)
        await until(lambda: idle.compiled())
        other = await judged.submit(mode=Mode.TEST, content=b"# fake: accepted\n")
        ended = await finished(judged, other.id)
        assert (Verdict.ACCEPTED, ()) == (ended.verdict, await shown(judged, sent))


async def test_a_run_with_a_lower_number_may_come_after_another_was_seen_to(
    judged: World,
) -> None:
    """Ids aren't committed in their order. Of those that were seen to, ended ones are forgotten."""
    first, second = await waiting(judged), await waiting(judged, "// the other")
    run_ids = [sent.runs[0].id for sent in (first, second)]
    async with judged.database.read() as session:
        found = await builds.next_without_report(session, ["H100"], run_ids[1:])
        none = await builds.next_without_report(session, ["H100"], run_ids)
        still_open = await builds.open_among(session, [*run_ids, 10**9])
    assert (run_ids[0], None, set(run_ids)) == (found and found.run_id, none, still_open)


@pytest.mark.exhaustive  # each run has test_a_report_that_cannot_be_read_ends_no_worker
async def test_nothing_is_compiled_while_somebody_measures_here(
    judged: World, idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker, another server, or `kernelbot run`."""
    monkeypatch.setenv(VARIABLE, name := f"kernelbot-test-{uuid4().hex}")
    async with working(idle.settings(), judged.database.url):
        await waiting(judged, "# builds: sleep 600 accepted")
        await until(lambda: idle.compiled())
        turn = Turns(name).take(1.0)
        await asyncio.sleep(QUIET_S)
        meanwhile = len(idle.compiled())
        turn.release()
        await until(lambda: len(idle.compiled()) == 2)
    assert 1 == meanwhile


@pytest.mark.exhaustive  # each run has test_a_judging_is_not_kept_waiting
async def test_who_was_ended_waits_for_the_others_and_is_tried_three_times(
    judged: World, idle: Idle
) -> None:
    async with working(idle.settings(), judged.database.url):
        endless = await waiting(judged, "# builds: sleep 600 accepted")
        await until(lambda: idle.compiled())
        other = await waiting(judged, "// the other")
        for begun in (1, 3, 4):
            await until(partial(idle.has_compiled, begun))
            content = f"# fake: accepted\n# {begun}".encode()
            sent = await judged.submit(mode=Mode.TEST, content=content)
            await finished(judged, sent.id)
        await reported(judged, other)
        await asyncio.sleep(QUIET_S)
        runs = [int(job.partition(".")[0]) for job in idle.compiled()]
    of_each = [sent.runs[0].id for sent in (endless, other)]
    assert [of_each[at] for at in (0, 1, 0, 0)] == runs


@pytest.mark.exhaustive
async def test_of_two_workers_one_compiles(judged: World, idle: Idle) -> None:
    url = judged.database.url
    async with working(idle.settings("a"), url), working(idle.settings("b"), url):
        sent = await waiting(judged, "# builds: sleep 2 accepted")
        await reported(judged, sent)
        await asyncio.sleep(QUIET_S)
    assert 1 == len(idle.compiled("a")) + len(idle.compiled("b"))


async def test_idle_time_is_lent_while_there_is_no_job() -> None:
    idle = IdleTime()
    with idle.at_work():
        lent = asyncio.ensure_future(_lent(idle))
        await asyncio.sleep(0)
        while_at_work = lent.done()
    wanted = await lent
    before = wanted.is_set()
    with idle.at_work(), idle.at_work():
        assert (False, False, True) == (while_at_work, before, wanted.is_set())


async def test_no_idle_time_is_lent_if_the_next_job_begins_as_the_last_one_ends() -> None:
    """Before whoever waits for it has noticed that the last one ended."""
    idle = IdleTime()
    with idle.at_work():
        lent = asyncio.ensure_future(_lent(idle))
        await asyncio.sleep(0)
    with idle.at_work():
        for _ in range(3):
            await asyncio.sleep(0)
        beside = lent.done()
    wanted = await lent
    assert (False, False) == (beside, wanted.is_set())


async def _lent(idle: IdleTime) -> asyncio.Event:
    return await idle.lend().__aenter__()
