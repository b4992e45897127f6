"""A file that was saved and judged, beside those before it."""

from collections.abc import Sequence
from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.preflight.model import Diagnostic, Preflight
from kernelbot.protocol import CaseResult, Fault, RunResult, Verdict, WorkloadResult
from kernelbot.protocol.late import dataclass
from kernelbot.saves.comparing import SpeedChange, by_intervals


@dataclass(frozen=True)
class MedianChange:
    """A median beside an earlier one."""

    answer: SpeedChange
    ratio: float = field(
        metadata=described("The new median over the earlier one; below 1 is faster.")
    )


@dataclass(frozen=True)
class SavedWorkload:
    """One workload of a save. `best`, `last`: beside the least median before it, and the latest;
    None if there is none. `session_ns`: all medians so far, the oldest first, this one last."""

    workload: WorkloadResult
    best: MedianChange | None
    last: MedianChange | None
    session_ns: tuple[float, ...]


@dataclass(frozen=True)
class Save:
    """One save. `result` None: it has none, and `trouble` says why."""

    number: int
    """The place among this session's saves, from 1."""
    result: RunResult | None = None
    trouble: str = ""
    fault: Fault | None = None
    """Whose the trouble is; None: nobody's, as if it was saved again."""
    version: int | None = None
    """Its number among the versions; None if it isn't kept."""
    sha256: str | None = None
    tests_s: float | None = None
    """From the save to the verdict of the tests."""
    workloads: tuple[SavedWorkload, ...] = ()
    preflights: tuple[Preflight, ...] = ()
    """For the GPUs that were asked for; empty as well if another save came first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What was said of the file, each with its line."""

    @property
    def first_failing(self) -> CaseResult | None:
        """The first test case that wasn't accepted."""
        phases = self.result.phases if self.result else ()
        cases = (case for phase in phases for case in phase.cases)
        return next((case for case in cases if case.verdict is not Verdict.ACCEPTED), None)


class Timings:
    """The accepted measurements of a session, by workload: the medians of all, and the samples of
    two alone, since a session may last for days."""

    def __init__(self) -> None:
        self._best: dict[str, WorkloadResult] = {}
        self._last: dict[str, WorkloadResult] = {}
        self._medians_ns: dict[str, list[float]] = {}

    def add(self, workloads: Sequence[WorkloadResult]) -> tuple[SavedWorkload, ...]:
        """Add a save's, each beside those before it."""
        return tuple(self._add(workload) for workload in workloads)

    def _add(self, workload: WorkloadResult) -> SavedWorkload:
        spec = workload.spec
        best, last = self._best.get(spec), self._last.get(spec)
        self._last[spec] = workload
        if best is None or workload.median_ns < best.median_ns:
            self._best[spec] = workload
        medians_ns = self._medians_ns.setdefault(spec, [])
        medians_ns.append(workload.median_ns)
        return SavedWorkload(
            workload,
            median_change(best, workload),
            median_change(last, workload),
            tuple(medians_ns),
        )


def median_change(earlier: WorkloadResult | None, now: WorkloadResult) -> MedianChange | None:
    """One measurement beside another; None if there is no other."""
    if earlier is None or not earlier.median_ns:
        return None
    answer = by_intervals(earlier.ci95_ns, now.ci95_ns)
    return MedianChange(answer, now.median_ns / earlier.median_ns)
