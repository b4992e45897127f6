"""Reads the text of a profile's report: what is known of its form becomes limits and tables, and
the rest stays text. Parts of it are what an author's process printed.
"""

import math
import re
from collections.abc import Iterable, Sequence

from kernelbot.submissions.profiles.model import GpuKernel, Limit, Section, Table, TitledTable

MOST_CHARACTERS = 300_000
_MOST_SECTIONS = 20
_MOST_KERNELS = 20
_MOST_ROWS = 200
_MOST_LINE = 2_000
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


def read_report(text: str) -> tuple[tuple[GpuKernel, ...], tuple[Section, ...]]:
    """The kernels that Nsight Compute watched, and all sections that are shown otherwise."""
    kernels: tuple[GpuKernel, ...] = ()
    sections = []
    for title, lines in _sections(text[:MOST_CHARACTERS]):
        if title == _NSIGHT and (found := _gpu_kernels(lines)):
            kernels = found
        elif title == _COUNTERS:
            sections.append(_tabular(title, lines, _COUNTER_HEADERS))
        elif title == _ROCPROF:
            sections.append(_tabular(title, lines, None))
        else:
            sections.append(Section(title, text="\n".join(lines).strip("\n")))
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


def _tabular(title: str, lines: Iterable[str], headers: tuple[str, ...] | None) -> Section:
    """The lines of several cells as a table, the others as sentences. `headers` None: the first
    such line has them."""
    rows: list[list[str]] = []
    sentences: list[str] = []
    for line in lines:
        cells = _cells(line)
        if len(cells) > 1 and len(rows) < _MOST_ROWS:
            rows.append(cells)
        elif line.strip():
            sentences.append(line.strip())
    if headers is None and rows:
        headers, rows = tuple(rows[0]), rows[1:]
    table = _table(headers, rows) if headers and rows else None
    return Section(title, tuple(sentences), table)


def _table(headers: tuple[str, ...], rows: Iterable[Sequence[str]]) -> Table:
    """Rows that are too short end with empty cells; what is too much is in the last one."""
    width = len(headers)
    shown = []
    for row in rows:
        last = " ".join(row[width - 1 :])
        filled = [*row[: width - 1], last]
        shown.append(tuple(filled + [""] * (width - len(filled))))
    return Table(headers, tuple(shown))


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [line] if len(line) > _MOST_LINE else _CELLS.split(line)


def _gpu_kernels(lines: Iterable[str]) -> tuple[GpuKernel, ...]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        kernel = _KERNEL.match(line) if len(line) <= _MOST_LINE else None
        if kernel and len(found) < _MOST_KERNELS:
            found.append((kernel[1], []))
        elif found:
            found[-1][1].append(line)
    return tuple(_gpu_kernel(name, said) for name, said in found)


def _gpu_kernel(name: str, lines: Iterable[str]) -> GpuKernel:
    tables: list[tuple[str, list[tuple[str, str, str]]]] = []
    for line in lines:
        cells = _cells(line)
        if not cells[0] or not cells[0].strip("- ") or cells[0] == "Metric Name":
            continue
        if len(cells) == 1:
            tables.append((cells[0], []))
        elif tables and len(tables[-1][1]) < _MOST_ROWS:
            unit = cells[1] if len(cells) > 2 else ""
            tables[-1][1].append((cells[0], cells[-1], unit))
    rows = [row for _, found in tables for row in found]
    shown = (TitledTable(title, _table(_METRIC_HEADERS, found)) for title, found in tables if found)
    return GpuKernel(name, _limits(rows), tuple(shown))


def _limits(rows: Sequence[tuple[str, str, str]]) -> tuple[Limit, ...]:
    theoretical = _percent(rows, (_THEORETICAL,))
    found = []
    for name, metrics in _LIMITS.items():
        percent = _percent(rows, metrics)
        if percent is not None:
            is_cut = name == "Occupancy" and theoretical is not None
            found.append(Limit(name, percent, f"of {theoretical:g} % possible" if is_cut else ""))
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
