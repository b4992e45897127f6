"""What the measurement of a workload consists of, and its figures."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kernelbot.harness.judge.measuring.anchor import Anchor
from kernelbot.harness.timing.stopping_rule import StoppedBy
from kernelbot.harness.timing.waits import Waits
from kernelbot.protocol import Case, DuelWorkload, WorkloadResult
from kernelbot.protocol.ratios import duel_workload
from kernelbot.protocol.scoring import median_time, spread_of


@dataclass(frozen=True)
class Times:
    """One runner's samples of a workload, in ns, and how many of their outputs were checked."""

    samples_ns: tuple[float, ...]
    checked: int
    suspicion: str | None = None
    """Why to doubt the samples, if that isn't enough to refuse them; for organisers."""
    note: str | None = None
    """What to tell about how they were counted."""


@dataclass(frozen=True)
class Measurement:
    """One workload's measurement: of one runner, or in a duel of two, the submission's first."""

    case: Case
    times: tuple[Times, ...]
    stopped: StoppedBy
    empty_call_ns: float
    anchor: Anchor | None
    processes: int
    """The number of processes that each kernel had: sample i is of process i modulo this."""
    calls: int
    """The number of calls of which a sample is the mean."""
    recurs: bool = False
    """Whether two of its calls had the same data."""
    waits: Waits = field(default_factory=lambda: Waits(told=False))

    @property
    def median_ns(self) -> float:
        """The submission's median, without drift if there is an anchor."""
        samples = self.times[0].samples_ns
        return median_time(samples, _factors(self.anchor, samples), self.processes).median_ns

    @property
    def suspicions(self) -> tuple[str, ...]:
        """Reasons to doubt the samples that aren't enough to refuse them; for organisers."""
        return tuple(times.suspicion for times in self.times if times.suspicion is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell about how the samples were counted."""
        return tuple(times.note for times in self.times if times.note is not None)


def workload_result(measured: Measurement) -> WorkloadResult:
    """The measurement of one kernel, with its statistics."""
    (times,) = measured.times
    samples, anchor = times.samples_ns, measured.anchor
    factors = _factors(anchor, samples)
    middle = median_time(samples, factors, measured.processes)
    spread = spread_of(samples, factors)
    return WorkloadResult(
        spec=measured.case.spec,
        samples_ns=samples,
        median_ns=middle.median_ns,
        mean_ns=spread.mean_ns,
        stdev_ns=spread.stdev_ns,
        ci95_ns=middle.ci95_ns,
        best_ns=spread.best_ns,
        worst_ns=spread.worst_ns,
        checked=times.checked,
        stopped_by=measured.stopped.value,
        empty_call_ns=measured.empty_call_ns,
        anchor_ns=anchor.median_ns if anchor is not None else None,
        drift_factors=factors,
        processes=measured.processes,
        calls=measured.calls,
        waited=measured.waits.known,
        repeated=measured.waits.repeated,
    )


def dueled_workload(measured: Measurement) -> DuelWorkload:
    """The measurement of two kernels, with the ratio of both."""
    mine, theirs = (times.samples_ns for times in measured.times)
    stopped_by = measured.stopped.value
    found = duel_workload(measured.case.spec, mine, theirs, stopped_by, measured.processes)
    return replace(found, waited=measured.waits.known, repeated=measured.waits.repeated)


def _factors(anchor: Anchor | None, samples_ns: Sequence[float]) -> tuple[float, ...]:
    return anchor.factors(len(samples_ns)) if anchor is not None else ()
