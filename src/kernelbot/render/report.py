"""A run's result as text for its author."""

import base64
from collections import Counter
from typing import TYPE_CHECKING

from kernelbot.protocol import (
    Artifact,
    CaseResult,
    CompileReport,
    Fault,
    HarnessKind,
    PhaseResult,
    RunResult,
    SystemInfo,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.waits import busy_share, busy_text
from kernelbot.render.failures import without_numbers
from kernelbot.render.intervals import ONE_JUDGING, of_all_judgings, of_one_judging
from kernelbot.render.plot import histogram
from kernelbot.render.table import table
from kernelbot.render.text import indent, one_line, printable, shorten
from kernelbot.render.units import interval_text, seconds_text, size_text, time_text
from kernelbot.render.verdicts import FAULTS, mark

if TYPE_CHECKING:
    from kernelbot.ranking.model import ScoreInterval

TEXT = "text/plain"
"""The type of artifacts that are part of a report; others are files."""
OUTPUT_LIMIT = 20_000
"""Characters shown of each of the program's and the compiler's outputs by default."""
STOPPED = {
    "precision": "the interval was narrow enough",
    "max_samples": "the maximum number of samples was taken",
    "wall_cap": "its time limit was reached",
    "processes": "its processes differ by more than further samples could even out",
    "dispute": "the first attempt ended, whose measurement was worse than the second's",
}
"""Why sampling of a workload ended."""
_NAMED = 4
"""How many of the cases that ended in the same way are named."""
_NUMBERS = ("median", "95 % interval", "best", "worst", "calls", "anchor", "of it")


def report(
    result: RunResult,
    *,
    output_limit: int = OUTPUT_LIMIT,
    passed_cases: bool = True,
    columns: int | None = None,
    interval: "ScoreInterval | None" = None,
) -> str:
    """Everything an author wants to know, the verdict and the score last. `output_limit`:
    characters shown of each output; `passed_cases` False: only those that failed, the others
    counted; `columns`: the terminal's, into which tables of timings should fit (None: there is no
    such limit); `interval`: the score's in the ranking (None: the run isn't ranked)."""
    found = details(result, output_limit=output_limit, passed_cases=passed_cases, columns=columns)
    ending = heading(result, interval)
    return f"{found}\n\n{ending}" if found else ending


def heading(result: RunResult, ranked: "ScoreInterval | None" = None) -> str:
    """The verdict, and the score with its interval: `ranked`, or that of this judging."""
    what = f"{one_line(result.problem)}, mode {result.mode}, on {one_line(result.system.device)}"
    lines = [f"{mark(result.verdict)} {result.verdict.words}: {what}"]
    if result.score_s is not None:
        interval = ""
        if ranked:
            interval = f" ({of_all_judgings(ranked)})"
        elif result.score_ci95_s:
            interval = f" ({of_one_judging(result.score_ci95_s)})"
        lines.append(f"Score {seconds_text(result.score_s)}{interval}")
    return "\n".join(lines)


def details(
    result: RunResult,
    *,
    output_limit: int = OUTPUT_LIMIT,
    passed_cases: bool = True,
    columns: int | None = None,
) -> str:
    """The report without the verdict and the score."""
    timed = [phase for phase in result.phases if phase.workloads]
    phases = [
        _phase(phase, result, passed_cases, columns, whole=phase in timed[-1:])
        for phase in result.phases
    ]
    parts = [
        "\n".join(phases),
        _failure(result, output_limit),
        _compile(result.compile, output_limit),
        *(_artifact(artifact, output_limit) for artifact in result.artifacts),
        _output("What the program printed", result.stdout, output_limit),
        _output("What it printed on stderr", result.stderr, output_limit),
        _notes(result),
    ]
    return "\n\n".join(part for part in parts if part)


def workloads_table(workloads: tuple[WorkloadResult, ...], width: int | None = None) -> str:
    """Timings, one row per workload, with the spread of the calls as a small plot.

    If the problem has an anchor, also the anchor's time, and how the median compares with it. If
    the table is wider than `width` characters, columns are left out, the spread last of all.
    """
    cells = {
        "workload": [one_line(workload.spec) for workload in workloads],
        "median": [time_text(workload.median_ns) for workload in workloads],
        "95 % interval": [interval_text(*workload.ci95_ns) for workload in workloads],
        "best": [time_text(workload.best_ns) for workload in workloads],
        "worst": [time_text(workload.worst_ns) for workload in workloads],
        "calls": [_calls_text(workload) for workload in workloads],
        **_beside_anchor(workloads),
        "spread": [histogram(workload.samples_ns) for workload in workloads],
    }
    spare = ["spread", "anchor", "calls", "best", "worst"]
    while True:
        text = table(list(cells), list(zip(*cells.values(), strict=True)), right=_NUMBERS)
        fits = width is None or max(len(line) for line in text.splitlines()) <= width
        if fits or not spare:
            return text
        cells.pop(spare.pop(), None)


def _calls_text(workload: WorkloadResult) -> str:
    """How many samples there are, and of how many calls each is the mean, if of several."""
    samples = str(len(workload.samples_ns))
    return samples if workload.calls == 1 else f"{samples} x {workload.calls}"


def _beside_anchor(workloads: tuple[WorkloadResult, ...]) -> dict[str, list[str]]:
    """The anchor's median, and the kernel's as a multiple of it, which hardly depends on the
    machine."""
    if not any(workload.anchor_ns for workload in workloads):
        return {}
    return {
        "anchor": [time_text(load.anchor_ns) if load.anchor_ns else "" for load in workloads],
        "of it": [
            f"{load.median_ns / load.anchor_ns:.3g} x" if load.anchor_ns else ""
            for load in workloads
        ],
    }


def _phase(
    phase: PhaseResult, result: RunResult, passed_cases: bool, columns: int | None, *, whole: bool
) -> str:
    """One line, then what failed; with `whole` also the table of timings. If several phases were
    timed, only the last has its table shown: its times count."""
    passed = sum(case.verdict is Verdict.ACCEPTED for case in phase.cases)
    counted = f", {passed} of {len(phase.cases)} cases passed" if phase.cases else ""
    took = seconds_text(phase.duration_s)
    whose = " of the opponent" if phase.of_opponent else ""
    lines = [f"{phase.phase}{whose}: {phase.verdict.words}{counted}, {took}"]
    lines += _cases(phase.cases, passed_cases)
    if whole:
        width = None if columns is None else columns - 2
        lines.append(indent(workloads_table(phase.workloads, width), "  "))
        lines += _extras(phase.workloads)
        lines += _how_measured(phase.workloads, result.harness)
    said = {case.message for case in phase.cases}
    said |= {result.failure.message} if result.failure else set()
    if phase.failure and phase.failure.message not in said:
        lines.append(indent(printable(phase.failure.message), "  "))
    return "\n".join(lines)


def _cases(cases: tuple[CaseResult, ...], passed_cases: bool) -> list[str]:
    """Each with what is said of it; those that ended with the same traceback are said once."""
    alike = dict[str, list[CaseResult]]()
    for case in cases:
        if "\n" in case.message:
            alike.setdefault(without_numbers(case.message), []).append(case)
    lines = list[str]()
    for case in cases:
        if case.verdict is Verdict.ACCEPTED and not passed_cases:
            continue
        same = alike.get(without_numbers(case.message), [case])
        if case is not same[0]:
            continue
        lines.append(f"  {mark(case.verdict)} {one_line(case.spec)}")
        if case.message:
            lines.append(indent(printable(case.message), "      "))
        if len(same) > 1:
            specs = [one_line(other.spec) for other in same[1 : 1 + _NAMED]]
            left = "" if len(same) <= 1 + _NAMED else ", ..."
            named = ", ".join(f"({spec})" for spec in specs)
            more = f"{len(same) - 1} more failed the same way"
            lines.append(f"  {mark(case.verdict)} {more}: {named}{left}")
    return lines


def _how_measured(workloads: tuple[WorkloadResult, ...], harness: HarnessKind) -> list[str]:
    """In what state each call was measured, and why sampling ended."""
    if harness is not HarnessKind.NATIVE:
        return []  # the problem's own script alone knows
    counts = Counter(workload.stopped_by for workload in workloads)
    known = [(STOPPED[reason], count) for reason, count in counts.items() if reason in STOPPED]
    ended = " or ".join(
        f"{text} ({count} of {len(workloads)})" if len(known) > 1 else text for text, count in known
    )
    sampled = f" Sampling ended because {ended}." if ended else ""
    where = _processes(sorted({workload.processes for workload in workloads}))
    waited = sum(load.waited or 0 for load in workloads)
    repeated = sum(load.repeated for load in workloads)
    made = sum(len(load.samples_ns) for load in workloads) + repeated
    again = ", and were repeated" if repeated else ""
    several = sorted({load.calls for load in workloads if load.calls > 1})
    windows = "windows" if several else "calls"
    again = f" {waited} of {made} {windows} waited for other programs' work{again}."
    how = f"{_calls(several)}{where}.{sampled}{again if waited else ''}"
    return [f"  {how} {ONE_JUDGING}"]


def _calls(several: list[int]) -> str:
    """What a call was given. `several`: how many calls shared a window, where that was more than
    one."""
    if not several:
        return "Each call had new data and cold caches"
    counts = " or ".join(map(str, several))
    return (
        "Each call had new data; a short kernel's samples are windows of "
        f"{counts} calls, which begin with cold caches"
    )


def _processes(counts: list[int]) -> str:
    """In how many processes the workloads were timed, if it was more than one."""
    if not counts or counts[-1] == 1:
        return ""
    several = " or ".join(map(str, counts))
    return f"; {several} {'process' if several == '1' else 'processes'} of the kernel took turns"


def _extras(workloads: tuple[WorkloadResult, ...]) -> list[str]:
    return [
        f"  {one_line(workload.spec)}: {one_line(key)} = {one_line(value)}"
        for workload in workloads
        for key, value in workload.extra.items()
    ]


def _failure(result: RunResult, output_limit: int) -> str:
    if result.failure is None:
        return ""
    lines = []
    said = {case.message for phase in result.phases for case in phase.cases}
    if result.failure.message not in said:
        lines.append(printable(shorten(result.failure.message, output_limit)))
    if result.failure.fault is not Fault.AUTHOR:
        lines.append(FAULTS[result.failure.fault])
    if result.failure.evidence:
        lines.append(indent(printable(shorten(result.failure.evidence, output_limit))))
    return "\n".join(lines)


def _compile(compiled: CompileReport | None, output_limit: int) -> str:
    if compiled is None:
        return ""
    how = "taken from the cache" if compiled.cached else seconds_text(compiled.duration_s)
    parts = [f"Compiled ({how}): {one_line(compiled.command)}"]
    if compiled.output.strip():
        parts.append(indent(printable(shorten(compiled.output.strip("\n"), output_limit))))
    if compiled.kernels:
        parts.append(indent(_kernels(compiled), "  "))
    return "\n".join(parts)


def _kernels(compiled: CompileReport) -> str:
    headers = list(dict.fromkeys(key for kernel in compiled.kernels for key in kernel))
    rows = [[one_line(kernel.get(key, "")) for key in headers] for kernel in compiled.kernels]
    return table(headers, rows)


def _artifact(artifact: Artifact, limit: int) -> str:
    """The text of a profile; for a file that isn't text, only its name."""
    name = one_line(artifact.name)
    content = base64.b64decode(artifact.content_base64)
    if artifact.media_type == TEXT:
        return _output(name, content.decode(errors="replace"), limit)
    size = f", {size_text(len(content))}" if content else ""
    return f"File: {name}{size}"


def _output(title: str, text: str, limit: int) -> str:
    if not text.strip():
        return ""
    return f"{title}:\n{indent(printable(shorten(text.rstrip(), limit)))}"


def threads_hint(system: SystemInfo) -> str:
    """What to do if a kernel ran more threads than it had processors; empty if it didn't."""
    threads, processors = system.threads, system.processors
    if threads is None or processors is None or threads <= processors:
        return ""
    one = processors == 1
    have = "1 processor" if one else f"{processors} processors"
    use = "one thread" if one else f"{processors} threads"
    return (
        f"Your kernel ran {threads} threads on {have}: they took turns, which costs time. "
        f"Use {use} here, as OMP_NUM_THREADS says."
    )


def busy_hint(result: RunResult) -> str:
    """What is said of a score from a machine that was too busy to measure on; empty if it wasn't,
    or if the verdict says so already."""
    share = busy_share(result)
    if share is None or result.verdict is not Verdict.ACCEPTED:
        return ""
    return (
        f"{busy_text(share)}. That is nobody's fault, and such a time isn't ranked: measure again "
        "when less runs there."
    )


def _notes(result: RunResult) -> str:
    notes = [one_line(note) for note in result.system.notes]
    if result.system.processors is not None:
        notes.insert(0, f"Processors for the kernel: {result.system.processors}.")
    notes += filter(None, (threads_hint(result.system), busy_hint(result)))
    if result.harness is HarnessKind.SCRIPT:
        notes.append("Measured by the problem's own script: unverified.")
    if result.sandbox.mode == "none":
        notes.append("Judged without a sandbox, because the operator said so.")
    return "\n".join(f"Note: {note}" for note in notes)
