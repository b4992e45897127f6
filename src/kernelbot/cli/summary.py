"""What became of a submission, within the lines of a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kernelbot.cli.outcome import closing, noticed, where_more_is
from kernelbot.cli.terminal import columns
from kernelbot.domain.states import RunState
from kernelbot.protocol import RunResult, Verdict, WorkloadResult
from kernelbot.render.failures import Alike, failed_alike
from kernelbot.render.intervals import ONE_JUDGING
from kernelbot.render.report import busy_hint, threads_hint, workloads_table
from kernelbot.render.text import counted, cut, indent, one_line, printable, wrap
from kernelbot.render.verdicts import FAULTS, mark

if TYPE_CHECKING:
    from kernelbot.runs.model import RunView
    from kernelbot.submissions.model import SubmissionView

LINES = 24
"""The height of a terminal that nobody has made larger."""
COMPARED_LINES = 6
"""The most lines of how a score compares with others and with what the device can do."""
_COLUMNS = 80
_WAYS = 3
"""Ways of failing that are shown; the first one with all that was said."""
_HEAD, _NOTES = 8, 6
"""The most lines of the answer, and of what was noticed."""
_OUTPUT_CHARACTERS = 20_000
_LEAST_OUTPUT = 3
"""Lines that must be free for what the program printed."""


def summary(
    submission: "SubmissionView", page_url: str, compared: Sequence[str] = (), *, lines: int = LINES
) -> str:
    """The verdict, the score and the place first, then how the score compares with others and with
    what the device can do, of which `compared` has a line each; then what failed, the times, and
    where the rest is: `lines` at most."""
    width = columns() or _COLUMNS
    head = _clipped(_wrapped(closing(submission), width), _HEAD)
    head += _clipped(_wrapped("\n".join(compared), width), COMPARED_LINES)
    notes = _clipped(_wrapped("\n".join(_notes(submission)), width), _NOTES)
    tail = where_more_is(submission, page_url)
    if printed := _printed(submission):
        tail.insert(0, f"{printed}: kernelbot submission show {submission.id}")
    room = lines - len(head) - len(notes) - len(tail) - 1
    failed = _clipped(_failed(submission, width), room)
    table = _times(submission, width, room - len(failed))
    output = _output(submission, width, room - len(failed) - len(table))
    return "\n".join([*head, *failed, *notes, *table, *output, *tail])


def _wrapped(text: str, width: int) -> list[str]:
    """The text's lines, also if a word is longer than a line."""
    return [cut(line, width) for line in wrap(text, width).splitlines()]


def _notes(submission: "SubmissionView") -> list[str]:
    results = [run.result for run in submission.runs if run.result is not None]
    hints = (hint for one in results for hint in (threads_hint(one.system), busy_hint(one)))
    return [f"Note: {hint}" for hint in dict.fromkeys(hints) if hint] + noticed(submission)


def _printed(submission: "SubmissionView") -> str:
    """The note that the program or the compiler printed something; empty if they didn't."""
    results = [run.result for run in submission.runs if run.result is not None]
    if any(one.stdout.strip() or one.stderr.strip() for one in results):
        return "All that the program printed"
    warned = any(one.compile is not None and one.compile.output.strip() for one in results)
    return "What the compiler printed" if warned else ""


def _output(submission: "SubmissionView", width: int, room: int) -> list[str]:
    """What the first run that printed something printed, if there is room for a few lines."""
    results = (run.result for run in submission.runs if run.result is not None)
    text = next((one.stdout for one in results if one.stdout.strip()), "")
    lines = printable(text[-_OUTPUT_CHARACTERS:].strip("\n")).splitlines()
    if not lines or room < _LEAST_OUTPUT:
        return []
    shown = _clipped(lines, room - 1)
    return ["What the program printed:", *(cut(f"  {line}", width) for line in shown)]


def _failed(submission: "SubmissionView", width: int) -> list[str]:
    """What went wrong in each run, each thing once."""
    said = set[str]()
    lines = list[str]()
    for run in submission.runs:
        if run.state is not RunState.FINISHED or run.verdict in (None, Verdict.ACCEPTED):
            continue
        text = _why(run)
        if text in said:
            continue
        said.add(text)
        kind = "Secret" if run.secret else "Public"
        name = (
            f"{kind} run on {one_line(run.device)}" if len(submission.runs) > 1 else "What failed"
        )
        lines += [f"{name}:", *(cut(line, width) for line in indent(text, "  ").splitlines())]
    return lines


def _why(run: "RunView") -> str:
    result = run.result
    found = _ways(result) if result is not None else []
    ways = [way for way in found if not way.sentence]
    lines = [line for index, way in enumerate(ways[:_WAYS]) for line in _way(way, whole=index == 0)]
    if (more := len(ways) - _WAYS) > 0:
        lines.append(f"{counted(more, 'other way')} of failing")
    lines += [f"  {way.sentence}" for way in found if way.sentence]
    if not lines:
        message = result.failure.message if result is not None and result.failure else run.message
        lines = printable(message or "").splitlines()
    if run.fault in FAULTS and run.fault != "author":
        lines.append(FAULTS[run.fault])
    return "\n".join(lines)


def _ways(result: RunResult) -> list[Alike]:
    return [way for phase in result.phases for way in failed_alike(phase.cases)]


def _way(way: Alike, *, whole: bool) -> list[str]:
    said = printable(way.first.message).splitlines()
    lines = [f"{mark(way.first.verdict)} {one_line(way.first.spec)}"]
    lines += [f"  {line}" for line in (_clipped(said, LINES // 2) if whole else said[:1])]
    if way.others:
        lines.append(f"  {len(way.others)} more failed the same way")
    return lines


def _clipped(lines: list[str], most: int) -> list[str]:
    """The first and the last of them, of which the last say most: a traceback's error."""
    if len(lines) <= most:
        return lines
    last = max(0, most - 1) * 2 // 3
    first = max(0, most - 1 - last)
    left_out = len(lines) - first - last
    return [*lines[:first], f"  [... {left_out} lines ...]", *lines[len(lines) - last :]]


def _times(submission: "SubmissionView", width: int, room: int) -> list[str]:
    """The times of the first run that was timed: of a ranked submission that is the secret one,
    whose workloads are named as the problem names them."""
    loads = next((found for run in submission.runs if (found := _timed(run))), ())
    shown = loads[: max(0, room - 4)]  # the others are the table's head and what is said of it
    if not shown:
        return []
    lines = workloads_table(shown, width).splitlines()
    more = len(loads) - len(shown)
    return [*lines, *([counted(more, "more workload")] if more else []), ONE_JUDGING]


def _timed(run: "RunView") -> tuple[WorkloadResult, ...]:
    phases = run.result.phases if run.result is not None else ()
    found = [phase.workloads for phase in phases if phase.workloads]
    return found[-1] if found else ()
