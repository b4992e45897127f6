"""Reads the text of a profile's report: what is known of its form becomes limits and tables, and
the rest stays text. Parts of it are what an author's process printed.
"""

import math
import re
from collections.abc import Iterable, Sequence

from kernelbot.submissions.profiles.model import (
    GpuKernel,
    ReachedLimit,
    ReportSection,
    Table,
    TitledTable,
)
from kernelbot.submissions.profiles.room import Room

MOST_CHARACTERS = 300_000
_MOST_SECTIONS = 20
_MOST_KERNELS = 20
_MOST_TABLES = 50
"""How many tables of one kernel are shown."""
_MOST_ROWS = 200
_MOST_COLUMNS = 12
_MOST_LINE = 2_000
_MOST_NAME = 300
_TITLE = re.compile(r"== (.{1,100}) ==")
_KERNEL = re.compile(r"(\S.*), Context \d+, Stream \d+")
_CELLS = re.compile(r"\s{2,}")
_COUNTERS = "Counters, per call"
_NSIGHT = "Nsight Compute"
_ROCPROF = "rocprofv3"
_METRIC_HEADERS = ("Metric", "Value", "Unit")
_COUNTER_HEADERS = ("Counter", "Per call", "That is")
_LIMITS = {
    "Compute": ("Compute (SM) [%]", "Compute (SM) Throughput", "SM [%]"),
    "Memory": ("Memory [%]", "Memory Throughput"),
    "Occupancy": ("Achieved Occupancy",),
}
"""What Nsight Compute calls the limits, in its sections' several forms."""
_THEORETICAL = "Theoretical Occupancy"


def read_report(text: str) -> tuple[tuple[GpuKernel, ...], tuple[ReportSection, ...]]:
    """The kernels that Nsight Compute watched, and all sections that are shown otherwise. What
    there is no `Room` for in tables stays text, and of text the middle is cut out."""
    room = Room()
    kernels: tuple[GpuKernel, ...] = ()
    sections = []
    for title, lines in _sections(text[:MOST_CHARACTERS]):
        if title == _NSIGHT and not kernels and (named := _by_kernel(lines)):
            kernels, rest = _gpu_kernels(named, room)
            sections.append(ReportSection(title, text=_text(rest, room)))
        elif title == _COUNTERS:
            sections.append(_tabular(title, lines, _COUNTER_HEADERS, room))
        elif title == _ROCPROF:
            sections.append(_tabular(title, lines, None, room))
        else:
            sections.append(ReportSection(title, text=_text(lines, room)))
    return kernels, tuple(one for one in sections if one.sentences or one.table or one.text)


def _sections(text: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        title = _TITLE.fullmatch(line)
        if title and len(found) <= _MOST_SECTIONS:
            found.append((title[1], []))
        else:
            found[-1][1].append(line)
    return found


def _text(lines: Iterable[str], room: Room) -> str:
    return room.add_text("\n".join(lines).strip("\n"))


def _tabular(
    title: str, lines: Iterable[str], headers: tuple[str, ...] | None, room: Room
) -> ReportSection:
    """The lines of several cells as a table, the others as sentences. `headers` None: the first
    such line has them."""
    rows: list[Sequence[str]] = []
    rest: list[str] = []
    sentences: list[str] = []
    for line in filter(str.strip, lines):
        cells = _cells(line)
        if len(cells) > 1:
            rows.append(cells)
        elif shown := room.add_sentence(line.strip()):
            sentences.append(shown)
        else:
            rest.append(line)
    if headers is None and rows:
        headers, rows = tuple(rows[0]), rows[1:]
    elif headers and rows:  # the last column may be of what this machine doesn't count
        headers = headers[: max(2, *map(len, rows))]
    table, more = _table(headers or (), rows, room)
    return ReportSection(title, tuple(sentences), table, _text([*more, *rest], room))


def _table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], room: Room
) -> tuple[Table | None, list[str]]:
    """The first rows, as many as there is room for, and the others as lines. Rows that are too
    short end with empty cells; what is too much is in the last one. None: there are no rows, or no
    room for one."""
    shown: list[tuple[str, ...]] = []
    width = len(headers)
    named = room.add_row(headers) if rows else None
    for row in rows[:_MOST_ROWS] if named else ():
        filled = [*row[: width - 1], " ".join(row[width - 1 :])]
        added = room.add_row(filled + [""] * (width - len(filled)))
        if added is None:
            break
        shown.append(added)
    table = Table(named, tuple(shown)) if named and shown else None
    return table, _lines(rows[len(shown) :])


def _lines(rows: Iterable[Sequence[str]]) -> list[str]:
    return ["  ".join(row).rstrip() for row in rows]


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [line] if len(line) > _MOST_LINE else _CELLS.split(line, _MOST_COLUMNS - 1)


def _by_kernel(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The kernels' names, each with the lines that follow it."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        kernel = _KERNEL.match(line) if len(line) <= _MOST_LINE else None
        if kernel and len(found) < _MOST_KERNELS:
            found.append((kernel[1], []))
        elif found:
            found[-1][1].append(line)
    return found


def _gpu_kernels(
    named: Iterable[tuple[str, list[str]]], room: Room
) -> tuple[tuple[GpuKernel, ...], list[str]]:
    """The kernels, and the lines that there was no room for."""
    kernels = []
    rest: list[str] = []
    for name, lines in named:
        tables = _metrics(lines)
        shown: list[TitledTable] = []
        not_shown: list[str] = []
        for title, rows in tables:
            has_room = len(shown) < _MOST_TABLES
            table, more = _table(_METRIC_HEADERS, rows, room) if has_room else (None, _lines(rows))
            if table:
                shown.append(TitledTable(room.add_text(title[:_MOST_NAME]), table))
            not_shown += [title, *more] if more else []
        rest += [name, *not_shown] if not_shown else []
        limits = _limits([row for _, rows in tables for row in rows])
        kernels.append(GpuKernel(room.add_text(name[:_MOST_NAME]), limits, tuple(shown)))
    return tuple(kernels), rest


def _metrics(lines: Iterable[str]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """A kernel's tables by their titles, those that have rows: of a metric, its value and unit."""
    tables: list[tuple[str, list[tuple[str, str, str]]]] = []
    for line in lines:
        cells = _cells(line)
        if not cells[0] or not cells[0].strip("- ") or cells[0] == "Metric Name":
            continue
        if len(cells) == 1:
            tables.append((cells[0], []))
        elif tables:
            unit = cells[1] if len(cells) > 2 else ""
            tables[-1][1].append((cells[0], cells[-1], unit))
    return [(title, rows) for title, rows in tables if rows]


def _limits(rows: Sequence[tuple[str, str, str]]) -> tuple[ReachedLimit, ...]:
    theoretical = _percent(rows, (_THEORETICAL,))
    found = []
    for name, metrics in _LIMITS.items():
        percent = _percent(rows, metrics)
        if percent is not None:
            is_cut = name == "Occupancy" and theoretical is not None
            found.append(
                ReachedLimit(name, percent, f"of {theoretical:g} % possible" if is_cut else "")
            )
    return tuple(found)


def _percent(rows: Sequence[tuple[str, str, str]], metrics: tuple[str, ...]) -> float | None:
    """The first of these metrics; others of the same name are in bytes per second."""
    for name, value, unit in rows:
        if name in metrics and (unit == "%" or "[%]" in name):
            try:
                number = float(value.replace(",", ""))
            except ValueError:
                continue
            if math.isfinite(number):
                return min(100.0, max(0.0, number))
    return None
