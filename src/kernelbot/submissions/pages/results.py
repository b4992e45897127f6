"""What a submission's page says of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import PhaseResult, Verdict, WorkloadResult
from kernelbot.render.failures import Alike, failed_alike
from kernelbot.render.plot import ValueSpread, spread_of
from kernelbot.render.progress import RunProgress
from kernelbot.render.report import STOPPED
from kernelbot.runs.model import Run
from kernelbot.runs.repeats import WHY_REPEATED
from kernelbot.submissions.model import Submission

_BINS = 24
_LIVE = frozenset({SubmissionState.QUEUED, SubmissionState.RUNNING})


@dataclass(frozen=True)
class Bar:
    """A bin of a histogram, in the units of its picture: 100 wide, 24 high."""

    x: float
    width: float
    height: float


@dataclass(frozen=True)
class ShownTiming:
    """A workload's measurement. `stopped`: why sampling ended; empty: it isn't known. `spread`:
    None for fewer than two calls."""

    result: WorkloadResult
    bars: tuple[Bar, ...]
    spread: ValueSpread | None
    stopped: str


@dataclass(frozen=True)
class ShownPhase:
    """One phase. `failed`: the cases that were refused, those that failed in the same way
    together."""

    phase: PhaseResult
    passed: int
    failed: tuple[Alike, ...]
    timings: tuple[ShownTiming, ...]


@dataclass(frozen=True)
class ShownRun:
    """One run. `phases` is empty if the viewer doesn't see its result; `why`: what went wrong,
    empty if the page says it elsewhere, beside a failing case or of an earlier run."""

    run: Run
    progress: str
    phases: tuple[ShownPhase, ...]
    why: str

    @property
    def name(self) -> str:
        """`CPU, public`."""
        return f"{self.run.device}, {'secret' if self.run.secret else 'public'}"

    @property
    def measured_again(self) -> str:
        """How often the run was measured again, and why; empty before its verdict, or if it never
        was."""
        if not self.run.repeats or self.run.verdict is None:
            return ""
        often = "once" if self.run.repeats == 1 else f"{self.run.repeats} times"
        return f"measured again {often}: {WHY_REPEATED}"


def is_live(submission: Submission) -> bool:
    """Whether more will happen to it by itself."""
    return submission.state in _LIVE


def shown_runs(submission: Submission) -> list[ShownRun]:
    shown = list[ShownRun]()
    said = set[str]()
    for run in submission.runs:
        phases = _phases(run)
        said |= {one.first.message for phase in phases for one in phase.failed[:1]}
        why = _why(run)
        shown.append(ShownRun(run, progress_of(run).text, phases, "" if why in said else why))
        said.add(why)
    return shown


def _why(run: Run) -> str:
    """Why it wasn't accepted, if the viewer may know."""
    if run.result is not None:
        return run.result.failure.message if run.result.failure else ""
    return run.message or ""


def progress_of(run: Run) -> RunProgress:
    """Where a run stands, before any event is read."""
    verdict = run.verdict if run.state is RunState.FINISHED else None
    return RunProgress(run.state, verdict, repeats=run.repeats)


def _phases(run: Run) -> tuple[ShownPhase, ...]:
    phases = run.result.phases if run.result is not None else ()
    return tuple(
        ShownPhase(
            phase,
            sum(case.verdict is Verdict.ACCEPTED for case in phase.cases),
            tuple(failed_alike(phase.cases)),
            tuple(_timing(one) for one in phase.workloads),
        )
        for phase in phases
    )


def _timing(result: WorkloadResult) -> ShownTiming:
    spread = spread_of(result.samples_ns, _BINS)
    heights = spread.heights if spread else ()
    width = 100 / max(1, len(heights))
    bars = tuple(
        Bar(round(number * width, 2), round(width * 0.86, 2), round(24 * height, 2))
        for number, height in enumerate(heights)
        if height
    )
    return ShownTiming(result, bars, spread, STOPPED.get(result.stopped_by, ""))


@dataclass(frozen=True)
class DiffLine:
    """A line of a comparison. `kind`: `added`, `removed`, `same` or `place`."""

    kind: str
    text: str


_KINDS = {"+": "added", "-": "removed", "@": "place"}


def diff_lines(lines: Sequence[str]) -> list[DiffLine]:
    """The lines of a unified diff, without its first two, which name the files."""
    return [DiffLine(_KINDS.get(line[:1], "same"), line) for line in lines[2:]]
