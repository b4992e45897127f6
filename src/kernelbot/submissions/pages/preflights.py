"""What a submission's page shows of what compilers said."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.preflight.model import Diagnostic, Figures, Kernel, Preflight, PreflightReport


@dataclass(frozen=True)
class FigureCell:
    """A figure. `before`: that of the version before if it was another one, else empty."""

    now: str
    before: str = ""


@dataclass(frozen=True)
class ShownKernel:
    """A row of the table; its cells are under `ShownPreflight.headers`."""

    name: str
    times: int
    cells: tuple[FigureCell, ...]


@dataclass(frozen=True)
class ShownDiagnostic:
    """An error or a warning; `place` is empty if the compiler named none."""

    found: Diagnostic
    place: str


@dataclass(frozen=True)
class ShownPreflight:
    """What compilers said for one GPU. `headers`: of columns in which any kernel has a figure."""

    report: PreflightReport
    headers: tuple[str, ...]
    kernels: tuple[ShownKernel, ...]
    diagnostics: tuple[ShownDiagnostic, ...]
    has_changed: bool
    """Whether any figure was another one in the version before."""


_HEADERS = (
    "Threads",
    "Registers",
    "Accumulation",
    "Scalar",
    "Spills",
    "Stack",
    "Shared",
    "Blocks",
    "Occupancy",
    "Limited by",
)


def shown_preflight(preflight: Preflight) -> ShownPreflight:
    """One report as a table."""
    report = preflight.report
    rows = [_cells(kernel, preflight.earlier(kernel)) for kernel in report.kernels]
    shown = [at for at in range(len(_HEADERS)) if any(row[at].now for row in rows)]
    return ShownPreflight(
        report,
        tuple(_HEADERS[at] for at in shown),
        tuple(
            ShownKernel(kernel.figures.name, kernel.times, tuple(row[at] for at in shown))
            for kernel, row in zip(report.kernels, rows, strict=True)
        ),
        tuple(ShownDiagnostic(one, _position_text(one)) for one in report.diagnostics),
        any(cell.before for row in rows for cell in row),
    )


def _cells(kernel: Kernel, before: Figures | None) -> Sequence[FigureCell]:
    now, room = kernel.figures, kernel.occupancy
    then = before or Figures("")
    threads = now.threads or (room.threads if room else None)
    return (
        FigureCell(_text(threads)),
        _beside(now.registers, then.registers),
        _beside(now.accumulation_registers or None, then.accumulation_registers),
        _beside(now.scalar_registers, then.scalar_registers),
        _beside(now.spill_bytes, then.spill_bytes),
        _beside(now.stack_bytes, then.stack_bytes),
        _beside(now.shared_bytes, then.shared_bytes),
        FigureCell(_text(room.blocks if room else None)),
        FigureCell(f"{room.warps_share:.0%}" if room else ""),
        FigureCell(room.limited_by.value if room else ""),
    )


def _beside(now: int | None, before: int | None) -> FigureCell:
    return FigureCell(_text(now), "" if now is None or now == before else _text(before))


def _text(figure: int | None) -> str:
    return "" if figure is None else str(figure)


def _position_text(found: Diagnostic) -> str:
    numbers = [str(number) for number in (found.line, found.column) if number is not None]
    return ":".join([found.file, *numbers] if found.file else numbers)
