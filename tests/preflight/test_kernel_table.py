"""Which figures a report's table has, and beside which they stand."""

from dataclasses import replace

import pytest

from kernelbot.preflight.kernel_table import Cell, KernelTable, kernel_table, never_launched
from kernelbot.preflight.model import Preflight
from tests.support.preflights import PREFLIGHT, mi300x_report, report_of


def headings(table: KernelTable) -> tuple[str, ...]:
    return tuple(column.heading for column in table.columns)


def cells(table: KernelTable, row: int = 0) -> dict[str, Cell]:
    return dict(zip(headings(table), table.rows[row].cells, strict=True))


def test_a_figure_that_has_changed_stands_beside_the_one_before() -> None:
    table = kernel_table(PREFLIGHT)
    found = cells(table)
    assert (Cell("64", "40"), Cell("1024"), Cell("75%"), True) == (
        found["registers"],
        found["shared"],
        found["occupancy"],
        table.has_changed,
    )


def test_the_same_figures_as_before_are_no_change() -> None:
    assert not kernel_table(Preflight(report_of(), report_of())).has_changed


def test_columns_without_a_figure_are_left_out() -> None:
    report = report_of()
    kernel = replace(report.kernels[0], occupancy=None)
    table = kernel_table(Preflight(replace(report, kernels=(kernel,))))
    assert ("registers", "spills", "stack", "shared") == headings(table)


def test_a_narrow_table_says_how_much_a_kernel_takes_and_what_limits_it() -> None:
    found = headings(kernel_table(PREFLIGHT).narrow())
    assert ("registers", "spills", "stack", "shared", "occupancy", "limited by") == found


def test_a_gpu_of_amds_has_columns_of_its_own() -> None:
    table = kernel_table(Preflight(mi300x_report()))
    assert ("threads", "stages", "registers", "accum", "scalar", "spills", "stack", "shared",
            "blocks", "occupancy", "limited by") == headings(table)  # fmt: skip
    assert [("64", "102"), ("0", "22")] == [
        (cells(table, row)["accum"].now, cells(table, row)["scalar"].now) for row in (0, 1)
    ]


@pytest.mark.parametrize(
    ("now", "before", "shown"),
    [(0, 0, None), (4, 0, Cell("4", "0")), (0, 4, Cell("0", "4")), (None, None, None)],
)
def test_registers_for_accumulation_are_shown_if_there_are_or_were_any(
    now: int | None, before: int | None, shown: Cell | None
) -> None:
    one, then = (
        replace(report, kernels=(replace(kernel, figures=figures),))
        for registers in (now, before)
        for report in (report_of(),)
        for kernel in report.kernels
        for figures in (replace(kernel.figures, accumulation_registers=registers),)
    )
    assert shown == cells(kernel_table(Preflight(one, then))).get("accum")


def test_a_short_table_has_the_first_kernels_and_what_says_most_of_them() -> None:
    short = kernel_table(Preflight(mi300x_report())).short(1)
    assert ("registers", "spills", "shared", "occupancy") == headings(short)
    assert [("128", "0", "65536", "12%")] == [
        tuple(cell.now for cell in row.cells) for row in short.rows
    ]


@pytest.mark.parametrize(
    ("now", "before", "shown"), [(0, 0, None), (400, 400, Cell("400")), (0, 400, Cell("0", "400"))]
)
def test_a_short_table_has_the_stack_if_there_is_or_was_any(
    now: int, before: int, shown: Cell | None
) -> None:
    one, then = (
        replace(report, kernels=(replace(kernel, figures=figures),))
        for stack in (now, before)
        for report in (report_of(),)
        for kernel in report.kernels
        for figures in (replace(kernel.figures, stack_bytes=stack),)
    )
    assert shown == cells(kernel_table(Preflight(one, then)).short(6)).get("stack")


def test_a_kernel_of_which_no_block_has_room_is_named() -> None:
    (said,) = never_launched(mi300x_report())
    assert said.startswith("scan can't be launched with 256 threads: one block needs more shared")
