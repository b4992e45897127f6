"""A preflight as text."""

from collections.abc import Sequence

from kernelbot.preflight.model import (
    Diagnostic,
    Figures,
    Kernel,
    Preflight,
    PreflightOutcome,
    PreflightReport,
    Severity,
)
from kernelbot.render.table import table
from kernelbot.render.text import counted, cut, indent, one_line, printable, shorten
from kernelbot.render.units import seconds_text

_HEADERS = ("kernel", "threads", "stages", "registers", "accum", "scalar", "spills", "stack",
            "shared", "blocks", "occupancy", "limited by")  # fmt: skip
_RIGHT = _HEADERS[1:-1]
_MOST_DIAGNOSTICS = 20
_SHORT_HEADERS = ("kernel", "registers", "spills", "shared", "occupancy")
_SHORT_KERNELS, _SHORT_DIAGNOSTICS, _SHORT_LINE = 6, 3, 72
"""What a short text has at most: kernels, diagnostics, and characters of one line."""
_MAX_OUTPUT = 4000
_MARKS = {
    PreflightOutcome.COMPILED: "✓",
    PreflightOutcome.REFUSED: "✗",
    PreflightOutcome.UNKNOWN: "!",
    PreflightOutcome.NEVER: "!",
}


def preflight_text(preflight: Preflight, columns: int | None = None) -> str:
    """All of it. `columns`: the terminal's; None: there is no limit."""
    report = preflight.report
    parts = [_heading(preflight)]
    parts += [f"  {_diagnostic(one)}" for one in report.diagnostics[:_MOST_DIAGNOSTICS]]
    hidden = len(report.diagnostics) - _MOST_DIAGNOSTICS
    if hidden > 0:
        parts.append(f"  ... and {hidden} more")
    parts += [f"  Not compiled: {printable(shorten(why, 1000))}" for why in report.not_compiled]
    if report.kernels:
        parts.append(indent(_table(preflight, columns), "  "))
        parts += [f"  ... and {counted(report.left_out, 'kernel')} more"] if report.left_out else []
        parts += [f"  ! {line}" for line in _impossible(report)]
    if report.outcome is not PreflightOutcome.COMPILED and not report.diagnostics and report.output:
        parts.append(indent(printable(shorten(report.output.strip(), _MAX_OUTPUT)), "      "))
    return "\n".join(parts)


def short_text(preflight: Preflight) -> str:
    """What matters most of it, for messages: at most 1200 characters."""
    report = preflight.report
    parts = [_heading(preflight)]
    parts += [
        cut(f"  {_diagnostic(one)}", _SHORT_LINE) for one in report.diagnostics[:_SHORT_DIAGNOSTICS]
    ]
    parts += [
        cut(f"  Not compiled: {one_line(why)}", _SHORT_LINE)
        for why in report.not_compiled[:_SHORT_DIAGNOSTICS]
    ]
    if report.kernels:
        parts.append(indent(_short_table(preflight), "  "))
        parts += [cut(f"  ! {line}", _SHORT_LINE) for line in _impossible(report)[:1]]
    hidden = sum(one.times for one in report.kernels[_SHORT_KERNELS:]) + report.left_out
    if hidden:
        parts.append(f"  ... and {counted(hidden, 'kernel')} more")
    return "\n".join(parts)


def _short_table(preflight: Preflight) -> str:
    """Without what is the same in most files: how it is launched, and how many blocks have room."""
    chosen = [at for at, header in enumerate(_HEADERS) if header in _SHORT_HEADERS]
    rows = [
        _chosen(_row(kernel, preflight.earlier(kernel)), chosen)
        for kernel in preflight.report.kernels[:_SHORT_KERNELS]
    ]
    headers = _chosen(_HEADERS, chosen)
    right = tuple(header for header in headers if header in _RIGHT)
    return table(headers, rows, right, columns=_SHORT_LINE - 2)


def _heading(preflight: Preflight) -> str:
    report = preflight.report
    text = f"{_MARKS[report.outcome]} {report.gpu} ({report.arch}): {report.outcome.value}"
    if report.kernels:
        text += f", {counted(sum(kernel.times for kernel in report.kernels), 'kernel')}"
    if preflight.cached:
        text += ", as before"
    elif report.duration_s:
        text += f" in {seconds_text(report.duration_s)}"
    return f"{text}; in brackets: the previous version" if _has_changed(preflight) else text


def _has_changed(preflight: Preflight) -> bool:
    """Whether a kernel that was there before has another figure now."""
    beside = ((one.figures, preflight.earlier(one)) for one in preflight.report.kernels)
    return any(before is not None and before != now for now, before in beside)


def _diagnostic(found: Diagnostic) -> str:
    place = one_line(found.file)
    for number in (found.line, found.column):
        if number is not None:
            place += f":{number}" if place else f"line {number}"
    mark = "✗" if found.severity is Severity.ERROR else "!"
    return f"{mark} {place}{': ' if place else ''}{found.severity}: {one_line(found.message)}"


def _table(preflight: Preflight, columns: int | None) -> str:
    rows = [_row(kernel, preflight.earlier(kernel)) for kernel in preflight.report.kernels]
    shown = [at for at in range(len(_HEADERS)) if at == 0 or any(row[at] for row in rows)]
    headers = tuple(_HEADERS[at] for at in shown)
    right = tuple(header for header in headers if header in _RIGHT)
    return table(headers, [_chosen(row, shown) for row in rows], right, columns=columns)


def _chosen(row: Sequence[str], shown: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[at] for at in shown)


def _row(kernel: Kernel, before: Figures | None) -> tuple[str, ...]:
    figures, room, then = kernel.figures, kernel.occupancy, before or Figures("")
    name = one_line(figures.name) + (f" ({kernel.times} times)" if kernel.times > 1 else "")
    threads = figures.threads or (room.threads if room else None)
    return (
        name,
        "" if threads is None else str(threads),
        "" if figures.stages is None else str(figures.stages),
        _beside(figures.registers, then.registers),
        _beside(figures.accumulation_registers or None, then.accumulation_registers),
        _beside(figures.scalar_registers, then.scalar_registers),
        _beside(figures.spill_bytes, then.spill_bytes),
        _beside(figures.stack_bytes, then.stack_bytes),
        _beside(figures.shared_bytes, then.shared_bytes),
        "" if room is None else str(room.blocks),
        "" if room is None else f"{room.warps_share:.0%}",
        "" if room is None else room.limited_by.value,
    )


def _beside(now: int | None, before: int | None) -> str:
    """The previous figure in brackets, if it was another one."""
    if now is None:
        return ""
    return f"{now} ({before})" if before is not None and before != now else str(now)


def _impossible(report: PreflightReport) -> list[str]:
    return [
        f"{one_line(kernel.figures.name)} can't be launched with {kernel.occupancy.threads} "
        f"threads: one block needs more {kernel.occupancy.limited_by.value} than {report.gpu} has."
        for kernel in report.kernels
        if kernel.occupancy is not None and kernel.occupancy.blocks == 0
    ]
