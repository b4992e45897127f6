"""What `kernelbot dev` shows of a save."""

from kernelbot.preflight.model import Diagnostic
from kernelbot.preflight.rendering import preflight_text
from kernelbot.protocol import Fault, RunResult, Verdict
from kernelbot.render.intervals import ONE_JUDGING
from kernelbot.render.plot import sparkline
from kernelbot.render.table import table
from kernelbot.render.text import indent, one_line, printable, shorten
from kernelbot.render.units import interval_text, seconds_text, time_text
from kernelbot.render.verdicts import FAULTS, mark
from kernelbot.saves.comparing import SpeedChange
from kernelbot.saves.model import MedianChange, Save, SavedWorkload

_HEADERS = ("workload", "median", "95 % interval", "versus best", "versus last", "session")
_RIGHT = ("median", "95 % interval")
_MESSAGE_LIMIT = 1500
_OUTPUT_LIMIT = 2000


def tests_line(verdict: Verdict, after_s: float) -> str:
    """How the tests ended, before anything is timed."""
    return f"{mark(verdict)} tests: {verdict.words}, {seconds_text(after_s)} after the save"


def diagnostic_line(found: Diagnostic) -> str:
    """`mine.py:3:5: error: ...`, as compilers write it and editors read it."""
    place = [one_line(found.file), *(str(one) for one in (found.line, found.column) if one)]
    return f"{':'.join(place)}: {found.severity}: {one_line(found.message)}"


def save_text(save: Save, columns: int | None = None) -> str:
    """All of a save: the verdict, what failed first, the compiler's words and the times. `columns`:
    the terminal's; None: there is no limit."""
    if save.result is None:
        return f"! Save {save.number}: {printable(save.trouble)}"
    parts = [_heading(save, save.result), *_what_failed(save, save.result)]
    if save.workloads:
        rows = [_row(timed) for timed in save.workloads]
        parts.append(
            indent(table(_HEADERS, rows, right=_RIGHT, columns=columns and columns - 2), "  ")
        )
        parts.append(f"  {ONE_JUDGING}")
    elif save.result.verdict is Verdict.ACCEPTED:  # the notes say why nothing was timed
        parts += [f"  {one_line(note)}" for note in save.result.system.notes]
    parts += [indent(preflight_text(one, columns and columns - 2), "  ") for one in save.preflights]
    return "\n".join(part for part in parts if part)


def _heading(save: Save, result: RunResult) -> str:
    version = f" (version {save.version})" if save.version is not None else ""
    text = f"{mark(result.verdict)} Save {save.number}{version}: {result.verdict.words}"
    if save.tests_s is not None:
        text += f", tests {seconds_text(save.tests_s)} after the save"
    if result.score_s is not None:
        text += f", score {seconds_text(result.score_s)}"
    return text


def _what_failed(save: Save, result: RunResult) -> list[str]:
    parts = []
    failing = save.first_failing
    if failing is not None:
        parts.append(f"  {mark(failing.verdict)} {one_line(failing.spec)}")
        parts.append(_block(failing.message, _MESSAGE_LIMIT))
    if result.failure is not None:
        if failing is None or result.failure.message != failing.message:
            parts.append(_block(result.failure.message, _MESSAGE_LIMIT))
        if result.failure.fault is not Fault.AUTHOR:
            parts.append(FAULTS[result.failure.fault])
        parts.append(_block(result.failure.evidence, _OUTPUT_LIMIT))
    if result.compile is not None and result.compile.output.strip():
        parts += ["  The compiler said:", _block(result.compile.output, _OUTPUT_LIMIT)]
    for title, output in (("printed", result.stdout), ("printed on stderr", result.stderr)):
        if output.strip():
            parts += [f"  The program {title}:", _block(output, _OUTPUT_LIMIT)]
    return parts


def _block(text: str, limit: int) -> str:
    return indent(printable(shorten(text.strip(), limit)), "      ")


def _row(timed: SavedWorkload) -> tuple[str, ...]:
    workload = timed.workload
    return (
        one_line(workload.spec),
        time_text(workload.median_ns),
        interval_text(*workload.ci95_ns),
        change_text(timed.best),
        change_text(timed.last),
        sparkline(timed.session_ns),
    )


def change_text(beside: MedianChange | None) -> str:
    """`1.25 x faster`: how many times as fast; `can't tell` with neither."""
    if beside is None:
        return ""
    if beside.answer is SpeedChange.UNKNOWN or not beside.ratio:
        return beside.answer.value
    times = 1 / beside.ratio if beside.answer is SpeedChange.FASTER else beside.ratio
    return f"{times:.2f} x {beside.answer.value}"
