"""What a submission's page shows of what compilers said."""

from dataclasses import replace

from kernelbot.preflight.model import Preflight
from kernelbot.submissions.pages.preflights import FigureCell, shown_preflight
from tests.support.front import Front
from tests.support.preflights import HOSTILE, PREFLIGHT, REFUSED, compiled, report_of


def test_a_figure_that_has_changed_stands_beside_the_one_before() -> None:
    shown = shown_preflight(PREFLIGHT)
    (kernel,) = shown.kernels
    cells = dict(zip(shown.headers, kernel.cells, strict=True))
    assert (FigureCell("64", "40"), FigureCell("1024"), FigureCell("75%"), True) == (
        cells["Registers"],
        cells["Shared"],
        cells["Occupancy"],
        shown.has_changed,
    )


def test_columns_without_a_figure_are_left_out() -> None:
    report = report_of()
    kernel = replace(report.kernels[0], occupancy=None)
    shown = shown_preflight(Preflight(replace(report, kernels=(kernel,))))
    assert ("Registers", "Spills", "Stack", "Shared") == shown.headers


async def test_the_page_has_a_table(front: Front) -> None:
    await front.world.board(devices=("H100",))
    await compiled(front.world, b"a = 1\n", report_of(40))
    sent = await compiled(front.world, b"a = 2\n", report_of(64))
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    parts = ("Compiled for <bdi>H100</bdi>", ">add<", '64 <span class="quiet">(40)</span>',
             "<code>submission.cu:3:7</code> warning: never used")  # fmt: skip
    assert [] == [part for part in parts if part not in page]


async def test_an_error_has_its_place(front: Front) -> None:
    await front.world.board(devices=("H100",))
    sent = await compiled(front.world, b"a = 1\n", REFUSED)
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    assert "<code>submission.cu:3</code> error: identifier" in page


async def test_hostile_names_stay_text(front: Front) -> None:
    await front.world.board(devices=("H100",))
    report = report_of(name=HOSTILE)
    warning = replace(report.diagnostics[0], file=HOSTILE, message=HOSTILE)
    sent = await compiled(front.world, b"a = 1\n", replace(report, diagnostics=(warning,)))
    page = (await front.ada.get(f"/submission/{sent.id}")).text
    assert (False, False) == ("<script>alert" in page, "\u202e" in page)


async def test_nobody_else_sees_it(front: Front) -> None:
    await front.world.board(devices=("H100",))
    sent = await compiled(front.world, b"a = 1\n", report_of())
    answer = await front.bob.get(f"/submission/{sent.id}")
    assert (403, False) == (answer.status_code, "submission.cu" in answer.text)
