"""What the measurements of a result must satisfy, and their figures, computed from the samples."""

import math
from collections.abc import Sequence
from dataclasses import replace

from kernelbot.protocol.enums import HarnessKind, Phase
from kernelbot.protocol.job import JobSpec
from kernelbot.protocol.phases import TIMED, cases_of
from kernelbot.protocol.ratios import duel_result, duel_workload
from kernelbot.protocol.result import DuelResult, DuelWorkload, PhaseResult, WorkloadResult
from kernelbot.protocol.scoring import (
    FEWEST_FOR_AN_INTERVAL,
    MAX_DRIFT,
    MOST_CALLS,
    SAMPLES_PER_FACTOR,
    are_same,
    median_time,
    spread_of,
)
from kernelbot.protocol.waits import MOST_TRIES

BY_SCRIPT = "script"
_STOPPED_EARLY = frozenset(("wall_cap", "dispute"))
_STOPPED_BY = frozenset(("precision", "max_samples", "processes")) | _STOPPED_EARLY
MOST_COUNTED = 4
"""What a few calls did for the others counts for all of them (`harness/timing/minority.py`). So a
sample is its own time, and at most the mean of all, that of its stretch of the time, and as much
again as is missing to the mean: for all samples together none of the four is more than what all
calls took."""


class Disagrees(ValueError):
    """A result isn't one of its job, or contradicts itself; the text says how."""


class Workloads:
    """Holds the measurements of one result to its job: what all their samples took has to fit into
    `within_s`."""

    def __init__(self, job: JobSpec, within_s: float) -> None:
        self._job = job
        self._left_ns = MOST_COUNTED * within_s * 1e9

    def held(self, phase: PhaseResult) -> tuple[WorkloadResult, ...]:
        """The phase's, with our own figures. Raises `Disagrees`."""
        return tuple(self._held(phase.phase, load) for load in phase.workloads)

    def duel(self, given: DuelResult) -> DuelResult:
        """A duel's, with our own figures. Raises `Disagrees`."""
        specs = [case.spec for _, case in cases_of(self._job.problem, Phase.LEADERBOARD)]
        if [load.spec for load in given.workloads] != specs:
            raise Disagrees("its duel's workloads aren't those of the job")
        found = [self._dueled(load) for load in given.workloads]
        try:
            result = duel_result(self._job.problem.ranking_by, found)
        except (ValueError, OverflowError):
            raise Disagrees("its pairs allow no ratio") from None
        self.compare("ratio", (given.ratio, *given.ratio_ci95), (result.ratio, *result.ratio_ci95))
        return result

    @staticmethod
    def compare(name: str, given: Sequence[float | None], found: Sequence[float | None]) -> None:
        """Raises `Disagrees` if what a node has computed isn't what its samples show."""
        numbers = [each for each in given if each is not None]
        ours = [each for each in found if each is not None]
        if not are_same(numbers, ours):
            raise Disagrees(f"its {name} is given as {numbers}, and by its samples it is {ours}")

    def _held(self, phase: Phase, load: WorkloadResult) -> WorkloadResult:
        if self._job.problem.harness is HarnessKind.SCRIPT:
            return _held_script(load)
        if phase not in TIMED:
            raise Disagrees(f"its {phase} phase has measurements")
        self._check_samples(load.samples_ns, load.stopped_by, load.calls)
        self._check_beside(load)
        self._check_processes(load.processes, len(load.samples_ns))
        _check_waits(load, len(load.samples_ns))
        middle = median_time(load.samples_ns, load.drift_factors, load.processes)
        self.compare("median", (load.median_ns, *load.ci95_ns), (middle.median_ns, *middle.ci95_ns))
        spread = spread_of(load.samples_ns, load.drift_factors)
        return replace(
            load,
            median_ns=middle.median_ns,
            ci95_ns=middle.ci95_ns,
            mean_ns=spread.mean_ns,
            stdev_ns=spread.stdev_ns,
            best_ns=spread.best_ns,
            worst_ns=spread.worst_ns,
        )

    def _dueled(self, load: DuelWorkload) -> DuelWorkload:
        if len(load.submission_ns) != len(load.opponent_ns):
            raise Disagrees("the kernels of its duel weren't called in turn")
        for samples_ns in (load.submission_ns, load.opponent_ns):
            self._check_samples(samples_ns, load.stopped_by)
        self._check_processes(load.processes, len(load.submission_ns))
        _check_waits(load, len(load.submission_ns))
        found = duel_workload(
            load.spec, load.submission_ns, load.opponent_ns, load.stopped_by, load.processes
        )
        self.compare("ratio", (load.ratio, *load.ratio_ci95), (found.ratio, *found.ratio_ci95))
        return replace(found, waited=load.waited, repeated=load.repeated)

    def _check_samples(self, samples_ns: Sequence[float], stopped_by: str, calls: int = 1) -> None:
        """A single call may be claimed to have taken no time; all of them are times, as many as
        the job allows, and together they count no more than calls of the attempt can."""
        if not 1 <= calls <= MOST_CALLS:
            raise Disagrees(f"its samples are of {calls} calls each")
        rules = self._job.sampling
        if stopped_by not in _STOPPED_BY:
            raise Disagrees(f"a measurement was ended by {stopped_by[:40]!r}")
        count = len(samples_ns)
        fewest = min(FEWEST_FOR_AN_INTERVAL, rules.min_samples)
        if stopped_by not in _STOPPED_EARLY:
            fewest = min(rules.min_samples, rules.max_samples)
        if not max(fewest, 1) <= count <= max(rules.max_samples, 1):
            raise Disagrees(
                f"a workload has {count} samples instead of {fewest} to {rules.max_samples}"
            )
        if not all(math.isfinite(sample) and sample >= 0 for sample in samples_ns):
            raise Disagrees("a sample isn't a time")
        self._left_ns -= math.fsum(samples_ns) * calls
        if self._left_ns < 0:
            raise Disagrees("its samples took longer than the attempt")

    def _check_processes(self, processes: int, samples: int) -> None:
        """At most as many as were asked for, with two samples each at least."""
        if not 1 <= processes <= max(self._job.sampling.processes, 1):
            raise Disagrees(f"its samples are of {processes} processes")
        if processes > 1 and samples < 2 * processes:
            raise Disagrees(f"{samples} samples aren't enough of {processes} processes")

    def _check_beside(self, load: WorkloadResult) -> None:
        """What was measured beside the samples."""
        blocks = math.ceil(len(load.samples_ns) / SAMPLES_PER_FACTOR)
        has_anchor = self._job.problem.anchor is not None
        if len(load.drift_factors) != (blocks if has_anchor else 0):
            raise Disagrees("its drift factors aren't those of the problem's anchor")
        least, most = (1 - 1e-9) / (1 + MAX_DRIFT), (1 + MAX_DRIFT) * (1 + 1e-9)
        if not all(least <= factor <= most for factor in load.drift_factors):
            raise Disagrees("a drift factor is beyond what is corrected")
        if (load.anchor_ns is not None) != has_anchor:
            raise Disagrees("its anchor isn't the problem's")
        beside = [ns for ns in (load.empty_call_ns, load.anchor_ns) if ns is not None]
        windows = len(load.samples_ns) + load.repeated
        if any(ns < 0 for ns in beside) or not 0 <= load.checked <= windows * load.calls:
            raise Disagrees("what was measured beside its samples can't be")
        if load.extra:
            raise Disagrees("a measurement has keys that only a script reports")


def _check_waits(load: WorkloadResult | DuelWorkload, samples: int) -> None:
    """Whatever was repeated had waited, and a sample has so many tries at most."""
    waited = 0 if load.waited is None else load.waited
    if not 0 <= load.repeated <= waited <= samples + load.repeated:
        raise Disagrees(f"{waited} of its calls waited, and {load.repeated} were repeated")
    if load.repeated >= samples * MOST_TRIES:
        raise Disagrees(f"{load.repeated} calls were repeated for {samples} samples")


def _held_script(load: WorkloadResult) -> WorkloadResult:
    """A script reports means and no samples: they are believed as far as they are times, and the
    run is marked as unverified."""
    low, high = load.ci95_ns
    if load.samples_ns or load.drift_factors or load.anchor_ns is not None:
        raise Disagrees("a script reports no samples")
    if load.stopped_by != BY_SCRIPT or (load.checked, load.processes, load.calls) != (0, 1, 1):
        raise Disagrees("a script's figures aren't marked as such")
    if not (load.median_ns == load.mean_ns > 0 and 0 <= low <= load.mean_ns <= high):
        raise Disagrees("a script's mean isn't within its interval")
    if load.waited is not None or load.repeated:
        raise Disagrees("a script doesn't tell what waited")
    if load.best_ns <= 0 or load.worst_ns <= 0 or load.stdev_ns < 0:
        raise Disagrees("a script's figures aren't times")
    return load
