"""What an author is told of a build before the run has a GPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.boards.model import ProblemDefinition
from kernelbot.domain.states import RunState
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.preflight.model import Preflight
from kernelbot.preflight.model import PreflightOutcome as Said
from kernelbot.protocol import CompileReport, EventKind, JobSpec, Lang, Mode, RunResult, Vendor
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from tests.support.building import built, compiled_sort, product_of, refused
from tests.support.launchers import FakeTable
from tests.support.results import left_of
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World
from tests.worker.test_building import Cluster

ROW = {"name": "sort", "registers": "40", "spill_store_bytes": "0", "spill_load_bytes": "0",
       "stack_bytes": "0", "shared_bytes": "1024"}  # fmt: skip
ERROR = 'submission.cu(3): error: identifier "foo" is undefined'


class Gpus(Cluster):
    """An H100 whose jobs go to `far`, and the processor that builds for it, at `shop`."""

    def gpu_settings(self) -> Settings:
        devices = (
            DeviceSettings(
                name="H100", vendor=Vendor.NVIDIA, arch="90a", launcher=("far",), slots=4,
                builds_on="Builder",
            ),
            DeviceSettings(name="Builder", launcher=("shop",), slots=2),
        )  # fmt: skip
        tables = {name: FakeTable(scheduler=getattr(self, name)) for name in ("far", "shop")}
        changed = {"devices": devices, "launchers": tables}
        return quick_settings(self.folder).model_copy(update=changed)

    async def compile(self, *rows: dict[str, str], output: str = "") -> None:
        """End the build step that is under way."""
        for handle, step in await self.steps():
            result = left_of(compiled(step, *rows, output=output))
            self.shop.end(handle, Outcome(JobState.FINISHED, result))


def compiled(step: JobSpec, *rows: dict[str, str], output: str = "") -> RunResult:
    report = CompileReport("nvcc", output, 2.0, cached=False, kernels=rows)
    return replace(built(step, product_of(b"a library")), compile=report)


def cuda_sort() -> ProblemDefinition:
    sort = compiled_sort()
    config = replace(sort.spec.config, sources=("submission.cu",))
    spec = replace(sort.spec, lang=Lang.CU, submission_name="submission.cu", config=config)
    return replace(sort, spec=spec, templates={"CUDA": "int x;"}, devices=("H100",))


@pytest.fixture
def gpus(tmp_path: Path) -> Gpus:
    return Gpus(tmp_path)


@pytest.fixture
async def judged(world: World) -> World:
    await world.services.boards.create(
        world.admin.user, cuda_sort(), name="sort", devices=("H100",)
    )
    return world


async def submit(
    world: World, content: bytes = b"int a;\n", mode: Mode = Mode.TEST, *, by_bob: bool = False
) -> Submission:
    author = world.bob.user if by_bob else world.ada.user
    return await world.submit(author, mode=mode, content=content, file_name="fast.cu")


async def shown(world: World, submission: Submission) -> tuple[Preflight, ...]:
    found = await world.services.submissions.get(world.ada.user, submission.id)
    return found.preflights


async def judge_one(world: World, gpus: Gpus, content: bytes, *rows: dict[str, str]) -> Submission:
    submitted = await submit(world, content)
    await gpus.compile(*rows)
    await gpus.judge()
    return await finished(world, submitted.id)


@pytest.mark.exhaustive
async def test_an_author_reads_the_report_before_the_run_has_a_gpu(
    judged: World, gpus: Gpus
) -> None:
    gpus.far.launch_s = 3600.0
    async with working(gpus.gpu_settings(), judged.database.url):
        submitted = await submit(judged)
        await gpus.compile(ROW)
        events = judged.services.submissions.events(judged.ada.user, submitted.id)
        async for event in events:
            if event.kind is EventKind.COMPILED and "message" in event.data:
                break
        (found,) = await shown(judged, submitted)
        said = str(event.data["message"])
    assert ({}, "H100", 40) == (
        gpus.far.specs,
        found.report.gpu,
        found.report.kernels[0].figures.registers,
    )
    assert ("H100 (90a): compiled, 1 kernel" in said, "sort" in said) == (True, True), said


async def test_what_does_not_compile_says_where(judged: World, gpus: Gpus) -> None:
    async with working(gpus.gpu_settings(), judged.database.url):
        submitted = await submit(judged)
        ((handle, step),) = await gpus.steps()
        result = refused(step)
        report = CompileReport("nvcc", f"{ERROR}\n", 2.0, cached=False)
        left = left_of(replace(result, compile=report))
        gpus.shop.end(handle, Outcome(JobState.FINISHED, left))
        await finished(judged, submitted.id)
        (found,) = await shown(judged, submitted)
    (error,) = found.report.diagnostics
    assert (Said.REFUSED, "submission.cu", 3) == (found.report.outcome, error.file, error.line)
    assert [] == gpus.far.launches


async def test_both_runs_and_whoever_sends_the_same_again_read_one_builds_report(
    judged: World, gpus: Gpus
) -> None:
    async with working(gpus.gpu_settings(), judged.database.url):
        first = await submit(judged, mode=Mode.LEADERBOARD)
        await gpus.compile(ROW)
        for _ in range(2):
            await gpus.judge()
        await finished(judged, first.id)
        second = await submit(judged, by_bob=True)
        await gpus.judge()
        await finished(judged, second.id)
        events = judged.services.submissions.events(judged.ada.user, first.id)
        told = [event async for event in events if "message" in event.data]
        found = [await judged.services.submissions.get(judged.admin.user, one.id)
                 for one in (first, second)]  # fmt: skip
    assert (1, [40, 40], [EventKind.COMPILED]) == (
        len(gpus.shop.launches),
        [one.preflights[0].report.kernels[0].figures.registers for one in found],
        [event.kind for event in told if event.kind is not RunState.FINISHED],
    )


async def test_the_figures_of_the_authors_own_previous_version_stand_beside(
    judged: World, gpus: Gpus
) -> None:
    async with working(gpus.gpu_settings(), judged.database.url):
        await judge_one(judged, gpus, b"int a;\n", ROW)
        others = await submit(judged, b"int b;\n", by_bob=True)
        await gpus.compile({**ROW, "registers": "99"})
        await gpus.judge()
        await finished(judged, others.id)
        await judge_one(judged, gpus, b"int broken;\n")  # no kernel of it is known
        newer = await judge_one(judged, gpus, b"int c;\n", {**ROW, "registers": "64"})
        again = await submit(judged, b"int c;\n")
        await gpus.judge()
        await finished(judged, again.id)
        found = [(await shown(judged, one))[0] for one in (newer, again)]
    assert [(64, 40)] * 2 == [
        (one.report.kernels[0].figures.registers, before.registers if before else None)
        for one in found
        for before in [one.earlier(one.report.kernels[0])]
    ]


async def test_a_deleted_version_is_beside_nothing(judged: World, gpus: Gpus) -> None:
    async with working(gpus.gpu_settings(), judged.database.url):
        older = await judge_one(judged, gpus, b"int a;\n", ROW)
        newer = await judge_one(judged, gpus, b"int c;\n", {**ROW, "registers": "64"})
    ask = judged.services.submissions
    before = await ask.snapshot(judged.ada.user, newer.id)
    await judged.services.deletion.delete_submission(judged.ada.user, older.id)
    after = await ask.snapshot(judged.ada.user, newer.id)
    (found,) = await shown(judged, newer)
    assert (None, False) == (found.before, before == after)


async def test_an_answer_that_was_kept_without_it_is_another_one(judged: World, gpus: Gpus) -> None:
    async with working(gpus.gpu_settings(), judged.database.url):
        submitted = await submit(judged)
        ask = judged.services.submissions
        before = await ask.snapshot(judged.ada.user, submitted.id)
        await gpus.compile(ROW)
        await gpus.judge()
        await finished(judged, submitted.id)
        after = await ask.snapshot(judged.ada.user, submitted.id)
    assert ((), 1) == (before.preflights, len(after.preflights))


async def test_what_a_hostile_node_says_is_stored_within_bounds(judged: World, gpus: Gpus) -> None:
    row = {"name": "\x00\x1b[2J\ud800" + "k" * 70_000, "registers": "1000000000", "\x00": "\ud800"}
    async with working(gpus.gpu_settings(), judged.database.url):
        submitted = await judge_one(judged, gpus, b"int a;\n", *[row] * 3)
        (found,) = await shown(judged, submitted)
    (kernel,) = found.report.kernels
    assert (3, None, True) == (
        kernel.times,
        kernel.figures.registers,
        kernel.figures.name.isprintable(),
    )
