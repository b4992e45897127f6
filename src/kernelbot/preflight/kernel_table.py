"""A report's kernels as a table, the same at every door."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.preflight.model import Figures, Kernel, Occupancy, Preflight, PreflightReport


@dataclass(frozen=True)
class Column:
    """One figure of every kernel."""

    heading: str
    read: Callable[[Kernel], int | str | None]
    """None: it isn't known of this kernel."""
    unit: str = ""
    """What the figure counts, for people; empty: the heading says it."""
    is_number: bool = True
    is_short: bool = False
    """Whether a short table has it, which leaves out what is the same in most files."""
    is_short_if_any: bool = False
    """Whether a short table has it if it is or was more than 0 for any of its kernels."""
    is_shown_if_zero: bool = True
    """False: it is left out if it is 0 for all kernels, as of GPUs that have no such thing."""
    needs_room: bool = False
    """Whether it is left out if a terminal has no room for all columns: others say what matters."""


@dataclass(frozen=True)
class Cell:
    """A figure as text, empty if it isn't known. `before`: that of the version before if it was
    another one, else empty."""

    now: str = ""
    before: str = ""

    @property
    def has_any(self) -> bool:
        """Whether it is or was more than 0."""
        return any(text not in {"", "0"} for text in (self.now, self.before))


@dataclass(frozen=True)
class KernelRow:
    """One kernel, with a cell for each of the table's columns."""

    kernel: Kernel
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class KernelTable:
    """The columns in which any kernel has a figure, and the kernels in the report's order."""

    columns: tuple[Column, ...]
    rows: tuple[KernelRow, ...]

    @property
    def has_changed(self) -> bool:
        """Whether any figure was another one in the version before."""
        return any(cell.before for row in self.rows for cell in row.cells)

    def narrow(self) -> "KernelTable":
        """The same without the columns that need room."""
        chosen = [at for at, column in enumerate(self.columns) if not column.needs_room]
        return _chosen(self.columns, self.rows, chosen)

    def short(self, most: int) -> "KernelTable":
        """The first rows, with the columns that say most."""
        rows = self.rows[:most]
        chosen = [
            at
            for at, column in enumerate(self.columns)
            if column.is_short
            or (column.is_short_if_any and any(row.cells[at].has_any for row in rows))
        ]
        return _chosen(self.columns, rows, chosen)


def _threads(kernel: Kernel) -> int | None:
    """The threads that compiling decided, or else those that occupancy was computed for."""
    return kernel.figures.threads or (kernel.occupancy.threads if kernel.occupancy else None)


def _of_occupancy(read: Callable[[Occupancy], int | str]) -> Callable[[Kernel], int | str | None]:
    return lambda kernel: None if kernel.occupancy is None else read(kernel.occupancy)


COLUMNS = (
    Column("threads", _threads, "of a block, 256 if the launch decides that", needs_room=True),
    Column("stages", lambda kernel: kernel.figures.stages, needs_room=True),
    Column("registers", lambda kernel: kernel.figures.registers, "of a thread", is_short=True),
    Column(
        "accum",
        lambda kernel: kernel.figures.accumulation_registers,
        "of these, those for matrix cores and spills (AGPRs)",
        is_shown_if_zero=False,
    ),
    Column("scalar", lambda kernel: kernel.figures.scalar_registers, "registers of a warp (SGPRs)"),
    Column("spills", lambda kernel: kernel.figures.spill_bytes, "bytes of a thread", is_short=True),
    Column(
        "stack",
        lambda kernel: kernel.figures.stack_bytes,
        "bytes of a thread",
        is_short_if_any=True,
    ),
    Column("shared", lambda kernel: kernel.figures.shared_bytes, "bytes of a block", is_short=True),
    Column(
        "blocks",
        _of_occupancy(lambda room: room.blocks),
        "that one multiprocessor holds at once",
        needs_room=True,
    ),
    Column(
        "occupancy",
        _of_occupancy(lambda room: f"{room.warps_share:.0%}"),
        is_short=True,
    ),
    Column(
        "limited by",
        _of_occupancy(lambda room: room.limited_by.value),
        is_number=False,
    ),
)
"""Beside a kernel's name, in this order."""


def kernel_table(preflight: Preflight) -> KernelTable:
    """The kernels of a report, each beside what it was in the version before."""
    rows = [
        KernelRow(kernel, _cells(kernel, preflight.earlier(kernel)))
        for kernel in preflight.report.kernels
    ]
    shown = [
        at
        for at, column in enumerate(COLUMNS)
        if any(
            row.cells[at].now if column.is_shown_if_zero else row.cells[at].has_any for row in rows
        )
    ]
    return _chosen(COLUMNS, rows, shown)


def _cells(kernel: Kernel, before: Figures | None) -> tuple[Cell, ...]:
    then = Kernel(before or Figures(""))
    return tuple(_cell(_text(one.read(kernel)), _text(one.read(then))) for one in COLUMNS)


def _cell(now: str, before: str) -> Cell:
    return Cell(now, before if now and now != before else "")


def _text(figure: int | str | None) -> str:
    return "" if figure is None else str(figure)


def _chosen(
    columns: Sequence[Column], rows: Sequence[KernelRow], places: Sequence[int]
) -> KernelTable:
    return KernelTable(
        tuple(columns[at] for at in places),
        tuple(KernelRow(row.kernel, tuple(row.cells[at] for at in places)) for row in rows),
    )


def never_launched(report: PreflightReport) -> tuple[str, ...]:
    """A sentence for each kernel of which not one block has room."""
    return tuple(
        f"{kernel.figures.name} can't be launched with {kernel.occupancy.threads} threads: one "
        f"block needs more {kernel.occupancy.limited_by.value} than {report.gpu} has."
        for kernel in report.kernels
        if kernel.occupancy is not None and kernel.occupancy.blocks == 0
    )
