"""A preflight as text."""

from kernelbot.preflight.kernel_table import (
    Cell,
    KernelRow,
    KernelTable,
    kernel_table,
    never_launched,
)
from kernelbot.preflight.model import (
    Diagnostic,
    Preflight,
    PreflightOutcome,
    PreflightReport,
    Severity,
)
from kernelbot.render.table import table, width_of, widths_of
from kernelbot.render.text import counted, cut, indent, one_line, printable, shorten
from kernelbot.render.units import seconds_text

_MOST_DIAGNOSTICS = 20
_SHORT_KERNELS, _SHORT_DIAGNOSTICS, _SHORT_LINE = 6, 3, 72
"""What a short text has at most: kernels, diagnostics, and characters of one line."""
_MAX_OUTPUT = 4000
_NAME_CELLS = 24
_MARKS = {
    PreflightOutcome.COMPILED: "✓",
    PreflightOutcome.REFUSED: "✗",
    PreflightOutcome.UNKNOWN: "!",
    PreflightOutcome.NEVER: "!",
}


def preflight_text(preflight: Preflight, columns: int | None = None) -> str:
    """All of it. `columns`: the terminal's; None: there is no limit."""
    report, shown = preflight.report, kernel_table(preflight)
    parts = [_heading(preflight, shown), *_caveat(report.caveat)]
    parts += [f"  {_diagnostic(one)}" for one in report.diagnostics[:_MOST_DIAGNOSTICS]]
    hidden = len(report.diagnostics) - _MOST_DIAGNOSTICS
    if hidden > 0:
        parts.append(f"  ... and {hidden} more")
    parts += [f"  Not compiled: {printable(shorten(why, 1000))}" for why in report.not_compiled]
    if report.kernels:
        parts.append(indent(_table(shown, columns and columns - 2), "  "))
        parts += [f"  ... and {counted(report.left_out, 'kernel')} more"] if report.left_out else []
        parts += [f"  ! {one_line(line)}" for line in never_launched(report)]
    if report.outcome is not PreflightOutcome.COMPILED and _says_more(report):
        parts.append(indent(printable(shorten(report.output.strip(), _MAX_OUTPUT)), "      "))
    return "\n".join(parts)


def _says_more(report: PreflightReport) -> bool:
    """Whether compilers said what no diagnostic and no sentence has."""
    if report.diagnostics:
        return False
    said = (line.strip() for line in report.output.splitlines())
    return not all(any(line in why for why in report.not_compiled) for line in said)


def short_text(preflight: Preflight) -> str:
    """What matters most of it, for messages: at most 1200 characters."""
    report, shown = preflight.report, kernel_table(preflight)
    parts = [_heading(preflight, shown), *_caveat(cut(report.caveat, _SHORT_LINE))]
    parts += [
        cut(f"  {_diagnostic(one)}", _SHORT_LINE) for one in report.diagnostics[:_SHORT_DIAGNOSTICS]
    ]
    parts += [
        cut(f"  Not compiled: {one_line(why)}", _SHORT_LINE)
        for why in report.not_compiled[:_SHORT_DIAGNOSTICS]
    ]
    if report.kernels:
        short = shown.short(_SHORT_KERNELS)
        parts.append(indent(_table(short, _SHORT_LINE - 2), "  "))
        parts += [cut(f"  ! {one_line(why)}", _SHORT_LINE) for why in never_launched(report)[:1]]
    hidden = sum(one.times for one in report.kernels[_SHORT_KERNELS:]) + report.left_out
    if hidden:
        parts.append(f"  ... and {counted(hidden, 'kernel')} more")
    return "\n".join(parts)


def _heading(preflight: Preflight, shown: KernelTable) -> str:
    report = preflight.report
    text = f"{_MARKS[report.outcome]} {report.gpu} ({report.arch}): {report.outcome.value}"
    if report.kernels:
        text += f", {counted(sum(kernel.times for kernel in report.kernels), 'kernel')}"
    if preflight.cached:
        text += ", as before"
    elif report.duration_s:
        text += f" in {seconds_text(report.duration_s)}"
    return f"{text}; in brackets: the previous version" if shown.has_changed else text


def _caveat(said: str) -> list[str]:
    return [f"  {one_line(said)}"] if said else []


def _diagnostic(found: Diagnostic) -> str:
    place = one_line(found.file)
    for number in (found.line, found.column):
        if number is not None:
            place += f":{number}" if place else f"line {number}"
    mark = "✗" if found.severity is Severity.ERROR else "!"
    return f"{mark} {place}{': ' if place else ''}{found.severity}: {one_line(found.message)}"


def _table(shown: KernelTable, columns: int | None) -> str:
    """Without some columns if a name of `_NAME_CELLS` has no room beside all of them."""
    names, *figures = widths_of(_headings(shown), _rows(shown))
    if columns is not None and width_of((min(names, _NAME_CELLS), *figures)) > columns:
        shown = shown.narrow()
    right = [column.heading for column in shown.columns if column.is_number]
    return table(_headings(shown), _rows(shown), right, columns=columns)


def _headings(shown: KernelTable) -> tuple[str, ...]:
    return ("kernel", *(column.heading for column in shown.columns))


def _rows(shown: KernelTable) -> list[tuple[str, ...]]:
    return [(_name(row), *map(_figure, row.cells)) for row in shown.rows]


def _name(row: KernelRow) -> str:
    times = row.kernel.times
    return one_line(row.kernel.figures.name) + (f" ({times} times)" if times > 1 else "")


def _figure(cell: Cell) -> str:
    return f"{cell.now} ({cell.before})" if cell.before else cell.now
