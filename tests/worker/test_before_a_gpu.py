"""With real compilers and the real judge: what an author learns before their run has a GPU."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import Conflict
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.preflight.model import Preflight, PreflightOutcome
from kernelbot.protocol import Mode, Vendor, Verdict
from kernelbot.runs.tries import NOTE
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from tests.support.waiting import until_told
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
EXAMPLES = Path(__file__).parents[2] / "examples"
CUDA, TRITON = EXAMPLES / "vectoradd_cu", EXAMPLES / "vectoradd_triton"
COMPILES_FOR_GPUS = pytest.mark.skipif(
    installed_program("nvcc") is None, reason="nvcc is not installed"
)
JUDGED_S = 200.0


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """Boards for an H100 that isn't here; a processor that builds for it and takes their tests."""
    for problem in (CUDA, TRITON):
        definition = load_problem(problem).definition
        await world.services.boards.create(
            world.admin.user, definition, name=problem.name, devices=("H100",)
        )
        edit = BoardEdit(try_on_cpu=True)
        await world.services.boards.edit(world.admin.user, problem.name, edit)
    devices = (
        DeviceSettings(name="CPU", slots=2),
        DeviceSettings(name="H100", vendor=Vendor.NVIDIA, arch="90a", builds_on="CPU"),
    )
    changed = {"devices": devices, "harness_command": Settings().harness_command}
    settings = quick_settings(tmp_path).model_copy(update=changed)

    async def is_served() -> bool:
        return (await world.services.devices.list_devices())[0].available

    async with working(settings, world.database.url):
        await until_told(is_served)
        yield world


def _content(file: Path) -> bytes:
    return file.read_bytes()


def _lines(file: Path) -> range:
    return range(1, len(_content(file).splitlines()) + 1)


async def submit(world: World, file: Path, device: str) -> Submission:
    """One of an example's solutions, to that example's board."""
    return await world.submit(
        board=file.parents[2].name,
        mode=Mode.TEST,
        content=_content(file),
        file_name=file.name,
        devices=(device,),
    )


async def report_on(world: World, file: Path) -> Preflight:
    """What its author reads before the run has a GPU."""
    sent = await submit(world, file, "H100")
    events = world.services.submissions.events(world.ada.user, sent.id)
    async for event in events:
        if "message" in event.data:
            break
    found = await world.services.submissions.get(world.ada.user, sent.id)
    if found.verdict is None:
        with contextlib.suppress(Conflict):  # it has ended meanwhile
            await world.services.submissions.cancel(world.ada.user, sent.id)
    return found.preflights[0]


@COMPILES_FOR_GPUS
@pytest.mark.parametrize(
    "file",
    [
        CUDA / "solutions/correct/grid_stride.cu",
        TRITON / "solutions/correct/blocks_of_256.py",
    ],
    ids=lambda file: file.suffix,
)
async def test_figures_are_those_of_real_compilers(judged: World, file: Path) -> None:
    report = (await report_on(judged, file)).report
    figures = report.kernels[0].figures
    assert (PreflightOutcome.COMPILED, True, 0) == (
        report.outcome,
        0 < (figures.registers or 0) < 64,
        figures.spill_bytes,
    )


@COMPILES_FOR_GPUS
@pytest.mark.parametrize(
    "file",
    [
        CUDA / "solutions/wrong/does_not_compile.cu",
        TRITON / "solutions/wrong/unknown_name.py",
    ],
    ids=lambda file: file.suffix,
)
async def test_an_error_has_its_line(judged: World, file: Path) -> None:
    report = (await report_on(judged, file)).report
    error = report.diagnostics[0]
    assert (PreflightOutcome.REFUSED, f"submission{file.suffix}", True) == (
        report.outcome,
        error.file,
        error.line in _lines(file),
    )


@pytest.mark.parametrize("problem", [CUDA, TRITON], ids=lambda problem: problem.name)
async def test_a_kernel_is_tried_on_the_processor(judged: World, problem: Path) -> None:
    file = min((problem / "solutions/correct").iterdir())
    sent = await submit(judged, file, "cpu")
    (run,) = (await finished(judged, sent.id, JUDGED_S)).runs
    assert run.result is not None
    assert (Verdict.ACCEPTED, True, None) == (
        run.verdict,
        NOTE in run.result.system.notes,
        run.score_s,
    )
