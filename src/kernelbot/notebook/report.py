"""What a cell shows of its judging: as HTML, and the same as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kernelbot.cli.outcome import closing, outcome
from kernelbot.notebook.html import NotebookPage
from kernelbot.notebook.picture import picture
from kernelbot.preflight.error_places import ErrorPosition, error_positions
from kernelbot.protocol import RunResult, WorkloadResult
from kernelbot.protocol.late import dataclass
from kernelbot.render.failures import Alike, failed_alike
from kernelbot.render.intervals import ONE_JUDGING
from kernelbot.render.report import heading, report
from kernelbot.render.saves import change_text
from kernelbot.render.text import indent, one_line, printable
from kernelbot.render.units import interval_text, time_text
from kernelbot.render.verdicts import mark
from kernelbot.saves.model import median_change

if TYPE_CHECKING:
    from kernelbot.library import Report
    from kernelbot.submissions.model import SubmissionView

_MAGIC_LINES = 1
"""Lines of a cell above what is judged."""


@dataclass(frozen=True)
class CellReport:
    """One judging of a cell. `workloads`: what was timed, `reference`: the problem's, if it was
    asked for; `rest`: all that was said, as a terminal shows it; `link`: the submission's page, or
    empty."""

    ending: str
    source: str
    places: tuple[ErrorPosition, ...]
    failures: tuple[Alike, ...]
    message: str
    rest: str
    workloads: tuple[WorkloadResult, ...] = ()
    reference: tuple[WorkloadResult, ...] = ()
    link: str = ""

    def bundle(self) -> dict[str, Any]:
        """What a front end chooses from, by media type."""
        return {"text/plain": self.text(), "text/html": self.html()}

    def text(self) -> str:
        """For what shows no HTML, and for people who search or copy it."""
        parts = [self.rest]
        if self.places:
            shown = (f"{where(one)}\n{indent(code_at(self.source, one))}" for one in self.places)
            parts.append("\n".join(shown))
        if self.reference:
            parts.append("\n".join("  ".join(row) for row in self._rows()))
        return "\n\n".join(parts)

    def html(self) -> str:
        """A table and a picture, with everything else folded away."""
        page = NotebookPage()
        page.heading(self.ending, self.link)
        for place in self.places:
            page.source_line(where(place), code_at(self.source, place))
        for way in self.failures:
            page.failure(*_failure(way))
        if self.message and not self.failures:
            page.block(printable(self.message))
        if self.workloads:
            page.table(self._headers(), self._rows())
            page.note(ONE_JUDGING)
            drawn = picture(self.workloads, self.reference)
            if drawn is not None:
                page.picture(drawn, "; ".join(f"{row[0]}: {row[1]}" for row in self._rows()))
        page.folded("All that was said", self.rest)
        return page.html()

    def _headers(self) -> Sequence[str]:
        plain = ("workload", "median", "95 % interval", "calls")
        return (*plain, "reference", "beside it") if self.reference else plain

    def _rows(self) -> list[tuple[str, ...]]:
        by_spec = {one.spec: one for one in self.reference}
        rows = []
        for load in self.workloads:
            row: tuple[str, ...] = (
                one_line(load.spec),
                time_text(load.median_ns),
                interval_text(*load.ci95_ns),
                str(len(load.samples_ns)),
            )
            other = by_spec.get(load.spec)
            if self.reference:
                time = time_text(other.median_ns) if other else ""
                row = (*row, time, change_text(median_change(other, load)))
            rows.append(row)
        return rows


def of_report(found: "Report", source: str, file_name: str) -> CellReport:
    """What was judged here. `file_name`: what the problem calls a submission."""
    result = found.result
    reference = found.baseline.workloads if found.baseline else ()
    return CellReport(
        ending="\n".join(filter(None, (heading(result), _speed(found)))),
        source=source,
        places=error_positions([result], source, frozenset({file_name})),
        failures=_failures([result]),
        message=found.message,
        rest=report(result),
        workloads=found.workloads,
        reference=reference,
    )


def of_submission(found: "SubmissionView", source: str, link: str) -> CellReport:
    """What a server has judged, or is still judging. `link`: the submission's page."""
    results = [run.result for run in found.runs if run.result is not None]
    without = [run.message or "" for run in found.runs if run.result is None]
    messages = (one.failure.message for one in results if one.failure)
    return CellReport(
        ending=closing(found),
        source=source,
        places=error_positions([*results, *without], source, frozenset({found.file_name})),
        failures=_failures(results),
        message=next((one for one in (*messages, *without) if one), ""),
        rest=outcome(found, link),
        workloads=_timed(results),
        link=link,
    )


def where(place: ErrorPosition) -> str:
    """The line in the cell, and in what is judged, which tracebacks name."""
    at = f", column {place.column}" if place.column is not None else ""
    lines = f"line {place.line + _MAGIC_LINES} of the cell ({place.line} of the file{at})"
    return f"{lines}: {place.severity}: {place.message}"


def code_at(source: str, place: ErrorPosition) -> str:
    """The place's line, and below it a caret if the column is known."""
    lines = source.split("\n")
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    shown = printable(line)
    if place.column is None or shown != line:  # what is written out has other columns
        return shown
    return f"{shown}\n{' ' * (place.column - 1)}^"


def _failure(way: Alike) -> tuple[str, str]:
    """The case, with how many others failed the same way, and what was said of it."""
    if way.sentence:
        return way.sentence, ""
    more = f", and {len(way.others)} more in the same way" if way.others else ""
    title = f"{mark(way.first.verdict)} {one_line(way.first.spec)}{more}"
    return title, printable(way.first.message)


def _failures(results: Sequence[RunResult]) -> tuple[Alike, ...]:
    return tuple(
        alike for one in results for phase in one.phases for alike in failed_alike(phase.cases)
    )


def _timed(results: Sequence[RunResult]) -> tuple[WorkloadResult, ...]:
    """The workloads of the last phase with times; empty: none has any."""
    timed = [phase.workloads for one in results for phase in one.phases if phase.workloads]
    return timed[-1] if timed else ()


def _speed(found: "Report") -> str:
    if found.speed_ci95 is None or found.baseline is None:
        return ""
    low, high = found.speed_ci95
    source = one_line(found.baseline.source)
    return f"{low:.2f} to {high:.2f} times as fast as the reference ({source})"
